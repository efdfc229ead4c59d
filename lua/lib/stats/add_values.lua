-- Adds values to the streaming statistics of a day: count, mean, sum of squares (Welford's method) and
-- histogram.
-- Takes: key of the hash; values in seconds
local Stats = Fields('total', 'mean', 'vk')

-- The field of the histogram in which a value in seconds is counted.
local function slot(value)
  local u = math.floor(value)
  if u < 60 then
    return 's' .. u
  elseif u < 3600 then
    return 'm' .. math.floor(u / 60)
  elseif u < 86400 then
    return 'h' .. math.floor(u / 3600)
  end
  return 'd' .. math.floor(u / 86400)
end

-- Adds up to 1000 values, in order.
local function add(key, values)
  local call = redis.call
  if not values[2] then
    local value, name = values[1], slot(values[1])
    local stored = redis.pcall('hmget', key, unpack(Stats), name)
    if stored.err then return end
    local total = tonumber(stored[Stats.total])
    if not total then
      call('hmset', key, 'total', '1', 'mean', value, 'vk', '0', name, '1')
    else
      local mean = tonumber(stored[Stats.mean]) or 0
      local moved = mean + (value - mean) / (total + 1)
      local vk = (tonumber(stored[Stats.vk]) or 0) + (value - moved) * (value - mean)
      call('hmset', key, 'total', total + 1, 'mean', moved, 'vk', vk, name, (tonumber(stored[#Stats + 1]) or 0) + 1)
    end
    return
  end
  local names, hits, fields = {}, {}, {unpack(Stats)}
  for i = 1, #values do
    local name = slot(values[i])
    if not hits[name] then
      hits[name] = 0
      names[#names + 1] = name
      fields[#fields + 1] = name
    end
    hits[name] = hits[name] + 1
  end
  local stored = redis.pcall('hmget', key, unpack(fields))
  if stored.err then return end
  local total, mean = tonumber(stored[Stats.total]) or 0, tonumber(stored[Stats.mean]) or 0
  local vk = tonumber(stored[Stats.vk]) or 0
  for i = 1, #values do
    local value = values[i]
    total = total + 1
    if total == 1 then
      mean, vk = value, 0
    else
      local before = mean
      mean = before + (value - before) / total
      vk = vk + (value - mean) * (value - before)
    end
  end
  local write = {'total', total, 'mean', mean, 'vk', vk}
  for i = 1, #names do
    write[5 + 2 * i] = names[i]
    write[6 + 2 * i] = (tonumber(stored[#Stats + i]) or 0) + hits[names[i]]
  end
  call('hmset', key, unpack(write))
end

-- Add the values 1000 at a time. Each value may fall into its own histogram field, and one HMGET cannot take too many.
return function(key, values)
  local count = #values
  if count <= 1000 then return add(key, values) end
  for from = 1, count, 1000 do add(key, {unpack(values, from, math.min(from + 999, count))}) end
end
