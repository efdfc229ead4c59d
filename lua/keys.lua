-- Defines the name of every Redis key, key part and channel. This table is not in the script that runs on the server:
-- the build replaces each `Keys.<name>` by its text as a literal, with the chosen prefix instead of `ql:`. Twenty
-- captured local variables instead would cost every call a microsecond.
local Keys = {
  -- one job: `job .. jid` is its hash; with a part after it, its companion keys
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
  -- the completed jobs of one queue, which only clients of qless-php list
  completed_in = '-completed',
  -- names of queues, and pauses
  queues = 'ql:queues',
  paused = 'ql:paused_queues',
  pauses = 'ql:pauses',
  -- paused templates: a document per jid
  paused_recurring = 'ql:paused_recurring',
  -- workers: `workers` lists them, `worker .. name .. held` has the jobs of one, `worker .. name` is its channel
  workers = 'ql:workers',
  worker = 'ql:w:',
  held = ':jobs',
  -- failures
  failures = 'ql:failures',
  group = 'ql:f:',
  -- the failed jobs that are deleted when they reach a certain age; the score is the time of the failure
  failed_times = 'ql:failed-jobs-list',
  -- the rest of the indexes
  completed = 'ql:completed',
  tracked = 'ql:tracked',
  tag = 'ql:t:',
  tags = 'ql:tags',
  -- statistics of a queue on a day: `wait .. day .. ':' .. queue`, also with `run` and `stats`
  wait = 'ql:s:wait:',
  run = 'ql:s:run:',
  stats = 'ql:s:stats:',
  -- a throttle: `throttle .. id` is its hash; with `locks` the jobs that hold a slot, with `pending` the waiting jobs
  throttle = 'ql:th:',
  pending = '-pending',
  -- the throttles with a maximum; the score is the time when the maximum was set
  throttles = 'ql:throttles',
  -- a lane: its jobs, and its window of uniqueness; then the last fencing token of all lanes
  lane = 'ql:k:',
  window = 'ql:u:',
  fence = 'ql:fence',
  -- topics to which queues subscribe in qless-php: `topics .. queue`; an index of the queues that have subscriptions
  topics = 'ql:topics',
  subscriptions = 'ql:subscriptions',
  -- settings
  config = 'ql:config',
  -- dependents of completed jobs that the next pops must release, because one call releases at most 10000
  releasing = 'ql:releasing',
  -- patterns of queue names; the legacy keys of qmore do not begin with the prefix
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
