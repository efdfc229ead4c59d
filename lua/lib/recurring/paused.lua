-- Reads a paused template.
-- Takes: jid
-- Returns: its document, nil if it is not paused or cannot be read; what is wrong if it cannot be read. The
--   document has `fields` (name, value, ...), the same by name in `named`, `next`, `since`, `by` and `reason`
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
  for i = 1, type(fields) == 'table' and #fields or 0, 2 do named[fields[i]] = fields[i + 1] end
  if not named.jid then return nil, 'its document in ' .. Keys.paused_recurring .. ' cannot be read' end
  document.named = named
  return document
end
