-- Removes entries of a list by their indexes, in one pass over the list.
-- Takes: key; changes (kind, key, index, entry), the last entry of the list first; the first and the last of
--   the changes that are made
return function(key, changes, first, last)
  local call, length = redis.call, redis.call('llen', key)
  local mark, count = need('repair/entry_mark')(key, changes[first][4]), last - first + 1
  -- LREM with a negative count searches from the end of the list, if that is nearer.
  if tonumber(changes[last][3]) >= length - 1 - tonumber(changes[first][3]) then count = -count end
  -- A full server refuses to mark the entries with LSET, but not LREM: then remove them by their text.
  local marked = redis.pcall('lset', key, changes[first][3], mark)
  if marked.err then
    for i = first, last do call('lrem', key, tonumber(changes[i][3]) == 0 and 1 or -1, changes[i][4]) end
    return
  end
  for i = first + 1, last do call('lset', key, changes[i][3], mark) end
  call('lrem', key, count, mark)
end
