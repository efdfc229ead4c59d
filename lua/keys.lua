-- Names every key, key part and channel once. This file is not part of the script: the join writes each name as
-- a literal in place of `Keys.<name>`, with the chosen prefix in place of `ql:`, because twenty captured locals
-- would cost every call a microsecond.
local Keys = {
  -- one job: a hash and its companions
  job = 'ql:j:',
  history = '-history',
  dependencies = '-dependencies',
  dependents = '-dependents',
  payloads = '-payloads',
  -- a recurring template
  recurring = 'ql:r:',
  -- one queue: `queue .. name .. part`
  queue = 'ql:q:',
  work = '-work',
  locks = '-locks',
  scheduled = '-scheduled',
  depends = '-depends',
  recur = '-recur',
  throttled = '-throttled',
  -- the completed jobs of a queue, which only qless-php lists
  completed_in = '-completed',
  -- names of queues, and pauses
  queues = 'ql:queues',
  paused = 'ql:paused_queues',
  pauses = 'ql:pauses',
  -- paused templates: a document per jid
  paused_recurring = 'ql:paused_recurring',
  -- workers: `worker .. name .. held`; the channel of a worker is `worker .. name`
  workers = 'ql:workers',
  worker = 'ql:w:',
  held = ':jobs',
  -- failures
  failures = 'ql:failures',
  group = 'ql:f:',
  -- the failed jobs that are deleted when they reach an age, by the time of their failure
  failed_times = 'ql:failed-jobs-list',
  -- the rest of the indexes
  completed = 'ql:completed',
  tracked = 'ql:tracked',
  tag = 'ql:t:',
  tags = 'ql:tags',
  -- statistics: `wait .. day .. ':' .. queue`
  wait = 'ql:s:wait:',
  run = 'ql:s:run:',
  stats = 'ql:s:stats:',
  -- a throttle: its hash; `throttle .. id .. locks`; `throttle .. id .. pending`
  throttle = 'ql:th:',
  pending = '-pending',
  -- the throttles with a maximum, by the time when it was set
  throttles = 'ql:throttles',
  -- the jobs of a lane, its uniqueness window, and the last fencing token
  lane = 'ql:k:',
  window = 'ql:u:',
  fence = 'ql:fence',
  -- topics of qless-php: `topics .. queue`; an index of the queues that have any
  topics = 'ql:topics',
  subscriptions = 'ql:subscriptions',
  -- settings
  config = 'ql:config',
  -- dependents of completed jobs that pops still have to release
  releasing = 'ql:releasing',
  -- patterns of queue names; the legacy keys have no prefix
  identifier_patterns = 'ql:qp:identifiers',
  priority_patterns = 'ql:qp:priorities',
  legacy_identifiers = 'qmore:dynamic',
  legacy_priorities = 'qmore:priority',
  -- keys that repairs set aside
  lost = 'ql:lost:',
  -- channels
  on_log = 'ql:log',
  on_put = 'ql:put',
  on_popped = 'ql:popped',
  on_stalled = 'ql:stalled',
  on_failed = 'ql:failed',
  on_completed = 'ql:completed',
  on_canceled = 'ql:canceled',
  on_track = 'ql:track',
  on_untrack = 'ql:untrack',
  on_ext = 'ql:ext',
  -- the prefix of all keys
  prefix = 'ql:',
}
