-- Removes entries of a list by their indexes, in one pass over the list.
-- Takes: key; changes (kind, key, index, entry), the last entry of the list first; the positions of the first and the
--   last of the changes to make
return function(key, changes, first, last)
  local call, length = redis.call, redis.call('llen', key)
  local mark, count = need('repair/entry_mark')(key, changes[first][4]), last - first + 1
  -- If the entries are nearer to the end of the list, search from there: LREM does so with a negative count.
  if tonumber(changes[last][3]) >= length - 1 - tonumber(changes[first][3]) then count = -count end
  -- A server without free memory refuses LSET, which marks the entries, but not LREM: then remove them by their text.
  local marked = redis.pcall('lset', key, changes[first][3], mark)
  if marked.err then
    for i = first, last do call('lrem', key, tonumber(changes[i][3]) == 0 and 1 or -1, changes[i][4]) end
    return
  end
  for i = first + 1, last do call('lset', key, changes[i][3], mark) end
  call('lrem', key, count, mark)
end
