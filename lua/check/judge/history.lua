-- Checks the history of a job.
-- Takes: job

-- The entry with its third element, which is not an object, wrapped in one; nil if that fails.
local function with_wrapped_item(entry)
  local at = string.match(entry, '^%s*%[[^"]*"()')
  if not at then return nil end
  repeat
    local found = string.find(entry, '[\\"]', at)
    if not found then return nil end
    local quote = string.byte(entry, found) == 34
    at = found + (quote and 1 or 2)
  until quote
  local from, item = string.match(entry, '^%s*,%s*()(.-)%s*%]%s*$', at)
  if not from then return nil end
  local text = string.sub(entry, 1, from - 1) .. '{"data":' .. item .. '}]'
  local ok, list = pcall(cjson.decode, text)
  if ok and type(list[3]) == 'table' and pcall(cjson.encode, list[3]) then return text end
end

-- The replacement of a faulty entry; nil for a correct entry; false for an entry of more than three elements, which
-- does no harm.
local function corrected(entry)
  if string.find(entry, '^%[[1-9]%d*,"[^"\\%c]*"%]$') then return nil end
  if string.find(entry, '^%[[1-9]%d*,"[^"\\%c]*",{"%l+":"[^"\\%c]*"}%]$') then return nil end
  local ok, list = pcall(cjson.decode, entry)
  if ok and type(list) == 'table' and type(list[1]) == 'number' and list[1] - list[1] == 0
    and type(list[2]) == 'string' then
    local item, count = list[3], 0
    for _ in pairs(list) do count = count + 1 end
    if item == nil and count == 2 then return nil end
    if count > 3 then return false end
    local text = type(item) == 'table' and pcall(cjson.encode, item)
    -- A decoded empty array looks like an empty object, and clients accept it: no finding.
    if text and (item[1] == nil or string.find(entry, '}%s*%]%s*$')) then return nil end
    text = (type(item) ~= 'table' or item[1] ~= nil) and with_wrapped_item(entry)
    if text then return text end
  end
  return '[0,"unreadable",{"raw":' .. cjson.encode(entry) .. '}]'
end

return function(check)
  return function(job)
    local key = job.key .. Keys.history
    local changes, odd, from, bytes = {}, false, 0, 0
    -- Begin with a small page, because entries may be long.
    for _, to in ipairs({9, 99, 999}) do
      local list, wrong = check.ask('lrange', key, from, to)
      if wrong then return check.wrong_type(key, 'list') end
      for i = 1, #list do
        local entry = list[i]
        bytes = bytes + #entry
        if bytes <= check.longest then
          local text = corrected(entry)
          if text then changes[#changes + 1] = {'list', key, '' .. from + i - 1, entry, text} end
          odd = odd or text == false
        end
      end
      from = from + #list
      if from <= to or bytes > check.longest then break end
    end
    if changes[1] then check.add('job-unreadable', job.id, 'history', changes) end
    if odd then check.add('job-unreadable', job.id, 'history has entries of more than three elements', {}, 'part') end
    if bytes > check.longest then
      check.too_long('j:' .. job.id .. Keys.history, 'entries')
    elseif from == 1000 and redis.call('llen', key) > 1000 then
      check.add('not-judged', 'j:' .. job.id .. Keys.history, 'more than 1000 entries')
    end
  end
end
