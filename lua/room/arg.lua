-- Reads arguments: finite numbers and JSON lists of names.
local Arg = {}

-- Returns the number a text stands for, or nil if it is none or not finite.
function Arg.number(text)
  local n = tonumber(text)
  if n and n - n == 0 then return n end
end

-- Returns a decoded JSON array of names as a list of texts without repeats, or nil if the
-- document is no array or holds anything but texts and numbers. `{}` is the empty list.
-- Text that is not JSON raises the words of the decoder.
function Arg.names(json)
  local list = cjson.decode(json)
  if type(list) ~= 'table' then return nil end
  local names, seen, count = {}, {}, 0
  for _ in pairs(list) do count = count + 1 end
  if count ~= #list then return nil end
  for i = 1, count do
    local name = list[i]
    local kind = type(name)
    if kind == 'number' then
      name = tostring(name)
    elseif kind ~= 'string' then
      return nil
    end
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  return names
end

-- Raises what Redis says of a number that is not an integer, before anything is written.
function Arg.integer(n)
  if n % 1 ~= 0 or n > 9e15 or n < -9e15 then redis.call('zrange', Keys.queues, n, n) end
end

return Arg
