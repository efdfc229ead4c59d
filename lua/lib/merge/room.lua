-- Whether the payloads of two merge jobs fit into one job: up to `merge-max` payloads, and up to 16 MiB of data.
-- Takes: the sets of their payloads; the setting `merge-max`
return function(one, other, setting)
  local count, bytes = 0, 0
  for _, set in ipairs({one, other}) do
    local payloads = redis.call('zrange', set, 0, -1)
    count = count + #payloads
    for i = 1, #payloads do bytes = bytes + #payloads[i] end
  end
  return count <= need('merge/max_payloads')(setting) and not need('merge/too_long')(count, bytes)
end
