-- The figures of a throttle that holds jobs: id, maximum, slots taken, jobs that wait for it, then the jids of
-- up to ten holders, the oldest first. Writes nothing.
-- Takes: id; its maximum if none is set, or nil
return function(id, given)
  local pcall, key = redis.pcall, Keys.throttle .. id
  local function size(part)
    local count = pcall('zcard', key .. part)
    return type(count) == 'number' and count or 0
  end
  local row = {id, '' .. (need('throttle/maximum')(id, given)), '' .. size(Keys.locks), '' .. size(Keys.pending)}
  local holders = pcall('zrange', key .. Keys.locks, 0, 9)
  for i = 1, #holders do row[#row + 1] = holders[i] end
  return row
end
