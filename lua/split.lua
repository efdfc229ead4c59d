-- Begins the script for a cluster with one primary and a prefix without a hash tag. Such a server has all keys, but
-- refuses a command on keys of different slots. So each such command becomes several commands on one key.
-- Refuses: an aggregate of scores other than MIN and MAX
local server = redis
local function split(run)
  -- Runs one command for each key and adds up the replies.
  local function sum_per_key(name, ...)
    local sum = 0
    for _, key in ipairs({...}) do
      local reply = run(name, key)
      if type(reply) == 'table' then return reply end
      sum = sum + reply
    end
    return sum
  end
  local several = {del = sum_per_key, exists = sum_per_key}

  function several.rename(name, from, to)
    local value, age = run('dump', from), run('pttl', from)
    -- If DUMP returned no content, the key or the right to read it is missing: let RENAME itself raise the error.
    if type(value) ~= 'string' then return run(name, from, to) end
    local reply = run('restore', to, math.max(age, 0), value, 'REPLACE')
    if not reply.err then run('del', from) end
    return reply
  end

  function several.zunionstore(_, to, count, ...)
    local words, scores, count = {...}, {}, tonumber(count)
    local aggregate = words[count + 2]
    local choose = aggregate == 'MAX' and math.max or math.min
    if count > 1 and aggregate ~= 'MAX' and aggregate ~= 'MIN' then error('No aggregate ' .. tostring(aggregate)) end
    for i = 1, count do
      local entries = run('zrange', words[i], 0, -1, 'WITHSCORES')
      for j = 1, #entries, 2 do
        local member, score = entries[j], tonumber(entries[j + 1])
        scores[member] = scores[member] and choose(scores[member], score) or score
      end
    end
    run('del', to)
    local size = 0
    for member, score in pairs(scores) do size = size + run('zadd', to, string.format('%.17g', score), member) end
    return size
  end

  return function(name, ...) return (several[name] or run)(name, ...) end
end
redis = setmetatable({call = split(server.call), pcall = split(server.pcall)}, {__index = server})
