-- Fills an empty database with jobs and names, without the core: a hundred thousand in a moment.
-- Takes: now kind count queue
local now, kind, count, queue = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local call, base = redis.call, 'ql:q:' .. ARGV[4] .. '-'
local jids = {}

-- Calls a command on one key with many words.
local function many(name, key, words)
  for i = 1, #words, 4000 do call(name, key, unpack(words, i, math.min(i + 3999, #words))) end
end

-- Adds the members to a sorted set, one after the other.
local function rank(key, members, score, step)
  local words = {}
  for i = 1, #members do
    words[2 * i - 1], words[2 * i] = string.format('%.17g', score + (step or 0) * i), members[i]
  end
  many('zadd', key, words)
end

local function names(prefix)
  local list = {}
  for i = 1, count do list[i] = prefix .. i - 1 end
  return list
end

local function jobs(state, worker, ...)
  jids = names('j')
  for i = 1, count do
    local key = 'ql:j:' .. jids[i]
    call('rpush', key .. '-history', '[' .. now - 900 .. ',"put",{"q":"' .. queue .. '"}]')
    call('hmset', key, 'jid', jids[i], 'klass', 'K', 'data', '{}', 'priority', '0', 'tags', '{}', 'state', state,
      'worker', worker, 'expires', '0', 'queue', queue, 'retries', '5', 'remaining', '5', 'time', now - 900, ...)
  end
  call('zadd', 'ql:queues', now, queue)
end

-- One running job that all others may depend on, and be merged into.
local function parent(...)
  call('hmset', 'ql:j:p', 'jid', 'p', 'klass', 'K', 'data', '{}', 'priority', '0', 'tags', '{}', 'state', 'running',
    'worker', 'w', 'expires', now + 60, 'queue', queue, 'retries', '5', 'remaining', '5', 'time', now - 900, ...)
  call('zadd', base .. 'locks', now + 60, 'p')
  call('zadd', 'ql:w:w:jobs', now + 60, 'p')
  call('rpush', 'ql:j:p-history', '[' .. now .. ',"popped",{"worker":"w"}]')
end

local fill = {}

function fill.waiting()
  jobs('waiting', '')
  rank(base .. 'work', jids, 0, -1e-9)
end

function fill.running()
  jobs('running', 'w')
  rank(base .. 'locks', jids, now + 60)
  rank('ql:w:w:jobs', jids, now + 60)
end

-- Locks that ran out: with `grace`, for the second time.
function fill.lost(...)
  jobs('running', 'w', ...)
  rank(base .. 'locks', jids, now - 60)
  rank('ql:w:w:jobs', jids, now - 60)
end

function fill.lost_twice() fill.lost('grace', '1') end

function fill.exhausted() fill.lost('grace', '1', 'remaining', '0') end

function fill.due()
  jobs('scheduled', '')
  rank(base .. 'scheduled', jids, now - 60)
end

-- Entries without jobs.
function fill.ghosts()
  rank(base .. 'work', names('g'), 0, -1e-9)
  call('zadd', 'ql:queues', now, queue)
end

function fill.dependents()
  jobs('depends', '')
  parent()
  rank(base .. 'depends', jids, now)
  many('sadd', 'ql:j:p-dependents', jids)
  for i = 1, count do call('sadd', 'ql:j:' .. jids[i] .. '-dependencies', 'p') end
end

-- One job that depends on all others.
function fill.dependencies()
  fill.waiting()
  call('hmset', 'ql:j:p', 'jid', 'p', 'klass', 'K', 'data', '{}', 'priority', '0', 'tags', '{}', 'state', 'depends',
    'worker', '', 'expires', '0', 'queue', queue, 'retries', '5', 'remaining', '5', 'time', now)
  call('zadd', base .. 'depends', now, 'p')
  many('sadd', 'ql:j:p-dependencies', jids)
  for i = 1, count do call('sadd', 'ql:j:' .. jids[i] .. '-dependents', 'p') end
end

local function failure(group) return '{"group":"' .. group .. '","message":"m","when":' .. now .. ',"worker":"w"}' end

function fill.failed()
  jobs('failed', '', 'failure', failure('g'))
  many('lpush', 'ql:f:g', jids)
  call('sadd', 'ql:failures', 'g')
end

-- Each job in a group of its own.
function fill.groups()
  jobs('failed', '')
  for i = 1, count do
    call('hset', 'ql:j:' .. jids[i], 'failure', failure('g' .. i))
    call('lpush', 'ql:f:g' .. i, jids[i])
  end
  many('sadd', 'ql:failures', names('g'))
end

function fill.complete()
  jobs('complete', '', 'queue', '')
  rank('ql:completed', jids, now - 1000000)
end

function fill.tracked() rank('ql:tracked', names('j'), now) end

function fill.tagged()
  jobs('waiting', '', 'tags', '["t"]')
  rank('ql:t:t', jids, now)
  call('zadd', 'ql:tags', count, 't')
end

-- Jobs with 1,000 tags each. The index has those of the first 50 jobs.
function fill.many_tags()
  local tags = {}
  for i = 1, 1000 do tags[i] = 't' .. i end
  jobs('waiting', '', 'tags', cjson.encode(tags))
  rank(base .. 'work', jids, 0, -1e-9)
  local first = {}
  for i = 1, math.min(50, count) do first[2 * i - 1], first[2 * i] = now, jids[i] end
  for i = 1, 1000 do
    call('zadd', 'ql:t:' .. tags[i], unpack(first))
    call('zadd', 'ql:tags', #first / 2, tags[i])
  end
end

-- One job with all tags, as an older script stores it.
function fill.tags()
  call('hmset', 'ql:j:j0', 'jid', 'j0', 'klass', 'K', 'data', '{}', 'priority', '0', 'tags', cjson.encode(names('t')),
    'state', 'waiting', 'worker', '', 'expires', '0', 'queue', queue, 'retries', '5', 'remaining', '5', 'time', now)
  call('zadd', base .. 'work', 0, 'j0')
  for i = 1, count do call('zadd', 'ql:t:t' .. i - 1, now, 'j0') end
  rank('ql:tags', names('t'), 2)
end

local function template(jid, score, tags)
  call('hmset', 'ql:r:' .. jid, 'jid', jid, 'klass', 'K', 'data', '{}', 'priority', '0', 'tags', tags, 'state', 'recur',
    'queue', queue, 'type', 'interval', 'count', '0', 'interval', '60', 'retries', '5', 'backlog', '0')
  call('zadd', base .. 'recur', score, jid)
end

function fill.template() template('r', 0, '[]') end

function fill.template_tags() template('r', 0, cjson.encode(names('t'))) end

function fill.templates()
  local list = names('r')
  for i = 1, count do template(list[i], now - 30, '[]') end
end

function fill.queues()
  rank('ql:queues', names('q'), now)
  many('sadd', 'ql:paused_queues', names('q'))
end

function fill.workers() rank('ql:workers', names('w'), now) end

function fill.old_workers() rank('ql:workers', names('w'), 1) end

function fill.settings()
  local words = {}
  for i = 1, count do words[2 * i - 1], words[2 * i] = 'option' .. i, '1' end
  many('hset', 'ql:config', words)
end

function fill.topics()
  local list = names('q')
  for i = 1, count do
    call('hset', 'ql:topics' .. list[i], 'topic', list[i])
    call('hset', 'ql:subscriptions', 'q:' .. list[i], '1')
  end
  call('hset', 'ql:subscriptions', 'since', now)
end

-- Jobs that one throttle holds.
function fill.held()
  jobs('throttled', '', 'throttles', '["t"]')
  rank(base .. 'throttled', jids, 0, 1e-9)
  rank('ql:th:t-pending', jids, 0, 1e-9)
  call('hmset', 'ql:th:t', 'id', 't', 'maximum', '1')
  call('zadd', 'ql:th:t-locks', now, 'x')
end

-- Throttles with a maximum.
function fill.limits()
  local list = names('t')
  for i = 1, count do call('hset', 'ql:th:' .. list[i], 'id', list[i], 'maximum', '1') end
  rank('ql:throttles', list, now)
end

-- Jobs that hold the slots of one throttle.
function fill.holders()
  jobs('running', 'w', 'throttles', '["t"]')
  rank(base .. 'locks', jids, now + 60)
  rank('ql:th:t-locks', jids, now)
  call('hmset', 'ql:th:t', 'id', 't', 'maximum', count)
end

-- Waiting jobs of a full throttle.
function fill.throttled()
  jobs('waiting', '', 'throttles', '["t"]')
  rank(base .. 'work', jids, 0, -1e-9)
  call('hmset', 'ql:th:t', 'id', 't', 'maximum', '1')
  call('hmset', 'ql:config', 'max-pop-scan', '1000000')
end

-- Jobs of one lane, each behind the one before it.
function fill.lane()
  jobs('depends', '', 'throttles', '[ ]', 'key', queue .. '/k')
  rank('ql:k:' .. queue .. '/k', jids, 1, 1)
  rank(base .. 'depends', jids, now)
  for i = 2, count do
    call('sadd', 'ql:j:' .. jids[i] .. '-dependencies', jids[i - 1])
    call('sadd', 'ql:j:' .. jids[i - 1] .. '-dependents', jids[i])
  end
  call('hset', 'ql:j:j0', 'state', 'waiting')
  call('zrem', base .. 'depends', 'j0')
  call('zadd', base .. 'work', 0, 'j0')
end

-- A merge job with many payloads.
function fill.payloads()
  parent('throttles', '[ ]', 'key', queue .. '/k', 'dup', 'merge')
  call('zadd', 'ql:k:' .. queue .. '/k', 1, 'p')
  local words = {}
  for i = 1, count do words[2 * i - 1], words[2 * i] = i, '{"n":' .. i .. '}' end
  many('zadd', 'ql:j:p-payloads', words)
end

if fill[kind] then fill[kind]() end
return call('dbsize')
