-- Checks and decodes the history, the failure and the payloads of a job that guard.put restores.
-- Result: a table of the functions `history`, `failed` and `payloads`. Each takes the text of one, and returns it
--   decoded.
-- Refuses: documents that a client could not read
local Restore = {}

-- Whether a document is nested at most `max_depth` levels deep.
local function is_shallow(value, max_depth)
  if type(value) ~= 'table' then return true end
  if max_depth == 0 then return false end
  for _, member in pairs(value) do
    if not is_shallow(member, max_depth - 1) then return false end
  end
  return true
end

-- Decodes a history, and refuses an entry that some client could not read.
function Restore.history(text)
  local list = need('value/json_arg')('history', text)
  if type(list) ~= 'table' or next(list) ~= nil and not string.find(text, '^%s*%[') then
    error('Guard(): history must be a JSON array')
  end
  for i = 1, #list do
    local entry = list[i]
    if type(entry) ~= 'string' then error('Guard(): history must hold texts') end
    local value = need('value/json_arg')('a history entry', entry)
    if type(value) ~= 'table' or type(value[1]) ~= 'number' or type(value[2]) ~= 'string' or #value > 3
      or (value[3] ~= nil and (type(value[3]) ~= 'table' or not string.find(entry, '}%s*%]%s*$')))
      or not is_shallow(value, 100) or not pcall(cjson.encode, value) then
      error('Guard(): not a history entry: ' .. string.sub(entry, 1, 100))
    end
  end
  return list
end

-- Decodes the failure of a job that is restored as failed.
function Restore.failed(text)
  local failed = need('value/object_arg')('failed', text,
    {group = 'string', message = 'string', when = 'number', worker = 'string'})
  if not failed.group or not failed.when then error('Guard(): failed wants group and when') end
  if failed.group == '' then error('Guard(): failed wants a group') end
  failed.text = need('failure/encode')(failed.group, failed.message or '', failed.when, failed.worker or '')
  return failed
end

-- Decodes the payloads of a merge job: pairs of a text and a score, which becomes text, too.
function Restore.payloads(text)
  local list = need('value/json_arg')('payloads', text)
  if type(list) ~= 'table' or not list[1] then error('Guard(): payloads must be a JSON array') end
  for i = 1, #list do
    local pair = list[i]
    if type(pair) ~= 'table' or type(pair[1]) ~= 'string' or type(pair[2]) ~= 'number' then
      error('Guard(): payloads must be pairs of text and score')
    end
    need('value/json_arg')('a payload', pair[1])
    pair[2] = string.format('%.17g', pair[2])
  end
  return list
end

return Restore
