-- Returns one history entry as a JSON object, or '' if it does not parse. Entries of the usual
-- shapes are taken apart as text, which costs a third of decoding and encoding them.
return function(entry)
  local when, what, rest = string.match(entry, '^%[(%d+),("[%w%-]+")(.*)%]$')
  if when then
    if rest == '' then return '{"when":' .. when .. ',"what":' .. what .. '}' end
    -- `q`, `worker` or `group` alone, or `group` and `worker`: what the core itself writes.
    local item = string.match(rest, '^,{("[qwg][orkeup]*":"[^"\\%c]*")}$')
      or string.match(rest, '^,{("group":"[^"\\%c]*","worker":"[^"\\%c]*")}$')
    if item then return '{"when":' .. when .. ',"what":' .. what .. ',' .. item .. '}' end
  end
  local ok, list = pcall(cjson.decode, entry)
  if not ok or type(list) ~= 'table' or type(list[1]) ~= 'number' or type(list[2]) ~= 'string' then return '' end
  local item = list[3]
  if type(item) ~= 'table' then item = {} end
  item.when, item.what = list[1], list[2]
  local fine, json = pcall(cjson.encode, item)
  return fine and json or ''
end
