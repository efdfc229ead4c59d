-- Reads the time of a history entry.
-- Takes: entry, as stored
-- Result: the time as text; nil if the entry is missing or unreadable
return function(entry)
  if not entry then return nil end
  local plain = string.match(entry, '^%[(%-?%d+),"')
  if plain then return plain end
  local ok, list = pcall(cjson.decode, entry)
  if ok and type(list) == 'table' and type(list[1]) == 'number' and list[1] - list[1] == 0 then
    return '' .. list[1]
  end
end
