-- The Redis commands on hashes, sets, lists and strings, as a dry run does them. Each takes the entry of its key:
-- `size`; `server`, whether the server's content counts; and `values`, what the call has written, with false for what
-- it has removed.
-- Result: by type, the operations by name
local function text(value) return type(value) == 'number' and string.format('%.17g', value) or value end

local hash, set, list, plain = {}, {}, {}, {}

function hash.hget(entry, key, field)
  local value = entry.values[field]
  if value == nil then return entry.server and redis.call('hget', key, field) end
  return value
end

function hash.hmget(entry, key, ...)
  local values = entry.server and redis.call('hmget', key, ...) or {}
  for i, field in ipairs({...}) do
    local own = entry.values[field]
    if own == nil then own = values[i] or false end
    values[i] = own
  end
  return values
end

function hash.hset(entry, key, ...)
  local words, new = {...}, 0
  for i = 1, #words, 2 do
    local field = text(words[i])
    if not hash.hget(entry, key, field) then new = new + 1 end
    entry.values[field] = text(words[i + 1])
  end
  entry.size = entry.size + new
  return new
end
hash.hmset = hash.hset

function hash.hdel(entry, key, ...)
  local gone = 0
  for _, field in ipairs({...}) do
    if hash.hget(entry, key, field) then gone = gone + 1 end
    entry.values[field] = false
  end
  entry.size = entry.size - gone
  return gone
end

function hash.hincrby(entry, key, field, n)
  local sum = (tonumber(hash.hget(entry, key, field) or 0) or 0) + n
  hash.hset(entry, key, field, sum)
  return sum
end

function set.sismember(entry, key, member)
  local own = entry.values[member]
  if own == nil then return entry.server and redis.call('sismember', key, member) or 0 end
  return own and 1 or 0
end

-- Adds members, or removes them.
local function change(entry, key, present, ...)
  local changed = 0
  for _, member in ipairs({...}) do
    if (set.sismember(entry, key, member) == 1) ~= present then changed = changed + 1 end
    entry.values[member] = present
  end
  entry.size = entry.size + (present and changed or -changed)
  return changed
end

function set.sadd(entry, key, ...) return change(entry, key, true, ...) end
function set.srem(entry, key, ...) return change(entry, key, false, ...) end
function set.scard(entry) return entry.size end

function set.smembers(entry, key)
  local members = {}
  for _, member in ipairs(entry.server and redis.call('smembers', key) or {}) do
    if entry.values[member] == nil then members[#members + 1] = member end
  end
  for member, present in pairs(entry.values) do
    if present then members[#members + 1] = member end
  end
  return members
end

function list.rpush(entry, _, ...)
  entry.size = entry.size + select('#', ...)
  return entry.size
end
list.lpush = list.rpush
function list.llen(entry) return entry.size end
function list.lrange(entry, key, ...) return entry.server and redis.call('lrange', key, ...) or {} end

function list.ltrim(entry, _, from, to)
  if from < 0 then from = math.max(0, entry.size + from) end
  if to < 0 then to = entry.size + to end
  entry.size = math.max(0, math.min(to, entry.size - 1) - from + 1)
end

function list.lrem(entry)
  entry.size = math.max(0, entry.size - 1)
  return 1
end

function list.lpop(entry, key)
  local first = list.lrange(entry, key, 0, 0)[1]
  list.lrem(entry)
  return first or ''
end

function plain.get(entry, key)
  local own = entry.values.own
  if own == nil then return entry.server and redis.call('get', key) end
  return own
end

function plain.set(entry, _, value) entry.size, entry.values.own = 1, text(value) end

function plain.incr(entry, key)
  local sum = (tonumber(plain.get(entry, key) or 0) or 0) + 1
  plain.set(entry, key, sum)
  return sum
end

return function() return {hash = hash, set = set, list = list, plain = plain} end
