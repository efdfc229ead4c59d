-- A page of the jids of jobs in a state, as a native array. `scheduled` first promotes jobs that are due. `waiting`
-- has the order of pop.
-- Takes: complete [offset [count]] | complete queue [offset [count]], where an empty queue is all | running|stalled|
--   scheduled|depends|throttled|recurring|waiting queue [offset [count]]
-- Refuses: unknown states, an offset or count that is not a number

-- Whether the first word after `complete` is a queue. It is one if there are three words or if it is empty.
-- Otherwise it must not be a number, and qless-php must have listed completed jobs of that queue. In the script for
-- qless-php, a single word is always a queue.
local function names_queue(word, offset, count)
  if not word or count or word == '' then return word end
  if php then return not offset or not tonumber(word) end
  return not tonumber(word) and redis.call('exists', Keys.queue .. word .. Keys.completed_in) == 1
end

return function(argv, now, t)
  local call = redis.call
  local state, queue, offset, count = argv[3], argv[4], argv[5], argv[6]
  if not state then error('Jobs(): Arg "state" missing') end
  if state == 'complete' then
    if not names_queue(queue, offset, count) then queue, offset, count = '', queue, offset end
  elseif not queue then
    error('Jobs(): Arg "queue" missing')
  end
  local from, limit = tonumber(offset or 0), tonumber(count or 25)
  if not from then error('Jobs(): Arg "offset" not a number: ' .. offset) end
  if not limit then error('Jobs(): Arg "count" not a number: ' .. count) end
  if state == 'complete' and queue == '' then return call('zrevrange', Keys.completed, from, from + limit - 1) end
  local base = Keys.queue .. queue
  if state == 'complete' or state == 'waiting' then
    if limit == 0 then return {} end
    return call('zrevrange', base .. (state == 'waiting' and Keys.work or Keys.completed_in), from, from + limit - 1)
  elseif state == 'running' then
    return call('zrangebyscore', base .. Keys.locks, t, '+inf', 'LIMIT', from, limit)
  elseif state == 'stalled' then
    return call('zrangebyscore', base .. Keys.locks, '-inf', t, 'LIMIT', from, limit)
  elseif state == 'depends' then
    return call('zrange', base .. Keys.depends, from, from + limit - 1)
  elseif state == 'throttled' then
    return call('zrange', base .. Keys.throttled, from, from + limit - 1)
  elseif state == 'recurring' then
    return call('zrangebyscore', base .. Keys.recur, 0, '+inf', 'LIMIT', from, limit)
  elseif state == 'scheduled' then
    need('value/integer')(from)
    need('value/integer')(from + limit)
    -- Refuse an offset of negative zero here, before any job is promoted, if the server does not accept it as an
    -- integer.
    if from == 0 and 1 / from < 0 then call('zrange', Keys.queues, from, from) end
    -- Skip the due jobs at the beginning of the schedule that this call could not promote.
    local late = need('queue/promote_all')(now, t, queue, need('queue/call_budget')())
    if from >= 0 then from = from + late end
    return call('zrange', base .. Keys.scheduled, from, from + limit - 1)
  end
  error('Jobs(): Unknown type "' .. state .. '"')
end
