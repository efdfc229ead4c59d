-- The time of a history entry as text, nil if it is missing or unreadable.
-- Takes: entry
return function(entry)
  if not entry then return nil end
  local plain = string.match(entry, '^%[(%-?%d+),"')
  if plain then return plain end
  local ok, list = pcall(cjson.decode, entry)
  if ok and type(list) == 'table' and type(list[1]) == 'number' and list[1] - list[1] == 0 then
    return '' .. list[1]
  end
end
