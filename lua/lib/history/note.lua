-- Builds the history entry for the note of a `guard` command; false if the note is `''`.
-- Takes: seconds; the note, a JSON object without nested objects or arrays
-- Refuses: a missing note, notes longer than 4096 bytes, any other JSON
return function(seconds, text)
  if not text then error('Guard(): note missing') end
  if text == '' then return false end
  if #text > 4096 then error('Guard(): note longer than 4096 bytes') end
  local note = need('value/json_arg')('note', text)
  if type(note) ~= 'table' or not string.find(text, '^%s*{') then error('Guard(): note must be a JSON object') end
  for _, value in pairs(note) do
    local kind = type(value)
    if kind == 'table' or kind == 'number' and value - value ~= 0 then
      error('Guard(): values of a note must be texts, finite numbers, booleans or null')
    end
  end
  return '[' .. seconds .. ',"cli",' .. text .. ']'
end
