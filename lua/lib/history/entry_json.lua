-- Returns a history entry as a JSON object, `''` if it does not parse. Entries of the usual forms are split as
-- text, at a third of the cost of decoding and encoding.
-- Takes: entry
return function(entry)
  local match = string.match
  local when, value = match(entry, '^%[([1-9]%d*),"put",{"q":("[^"\\%c]*")}%]$')
  if when then return '{"when":' .. when .. ',"what":"put","q":' .. value .. '}' end
  when, value = match(entry, '^%[([1-9]%d*),"popped",{"worker":("[^"\\%c]*")}%]$')
  if when then return '{"when":' .. when .. ',"what":"popped","worker":' .. value .. '}' end
  when, value = match(entry, '^%[([1-9]%d*),("[%w%-]+")%]$')
  if when then return '{"when":' .. when .. ',"what":' .. value .. '}' end
  local ok, list = pcall(cjson.decode, entry)
  if not ok or type(list) ~= 'table' or type(list[1]) ~= 'number' or type(list[2]) ~= 'string' then return '' end
  local item = list[3]
  if type(item) ~= 'table' then item = {} end
  item.when, item.what = list[1], list[2]
  local fine, json = pcall(cjson.encode, item)
  return fine and json or ''
end
