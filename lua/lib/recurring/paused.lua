-- Reads a paused template.
-- Takes: jid
-- Result: its document, nil if it is not paused or cannot be read; what is wrong if it cannot be read. The
--   document has `fields` (name, value, ...), `named` (these values by name), `next`, `since`, `by` and `reason`
return function(jid)
  local text = redis.pcall('hget', Keys.paused_recurring, jid)
  if type(text) == 'table' then
    local key = Keys.paused_recurring
    return nil, need('value/wrong_type')(text, false, 'hash', key, 'hget', key, jid)
  end
  if not text then return nil end
  local ok, document = pcall(cjson.decode, text)
  local fields = ok and type(document) == 'table' and document.fields
  local named = {}
  local sound = type(fields) == 'table' and #fields % 2 == 0
  for i = 1, sound and #fields or 0 do
    sound = sound and type(fields[i]) == 'string'
    if sound and i % 2 == 0 then named[fields[i - 1]] = fields[i] end
  end
  if sound and document.next then sound = type(document.next) == 'string' and tonumber(document.next) end
  if not sound or named.jid ~= jid then return nil, 'its document in ' .. Keys.paused_recurring .. ' cannot be read' end
  document.named = named
  return document
end
