-- Renders jobs as a JSON array.
-- Takes: jids; the replies of job/read; their number; the set of tracked jids, or false; for a single job,
--   whether it may have dependencies or dependents, if the caller knows; the worker of all as JSON and the end of
--   their locks, unless the replies have them
-- Returns: the text, `{}` without jobs

-- Joins texts, twenty at a time with one `..`: the Lua of Redis hashes every byte of each text that it
-- creates, and `table.concat` creates each three times.
local join
join = function(list, count)
  if count == 1 then return list[1] end
  local all = {}
  for from = 1, count, 20 do
    for i = count + 1, from + 19 do list[i] = '' end
    all[#all + 1] = list[from] .. list[from + 1] .. list[from + 2] .. list[from + 3] .. list[from + 4] ..
      list[from + 5] .. list[from + 6] .. list[from + 7] .. list[from + 8] .. list[from + 9] .. list[from + 10] ..
      list[from + 11] .. list[from + 12] .. list[from + 13] .. list[from + 14] .. list[from + 15] ..
      list[from + 16] .. list[from + 17] .. list[from + 18] .. list[from + 19]
  end
  return join(all, #all)
end

return function(jids, jobs, count, tracked, related, worker, ends)
  if count == 0 then return '{}' end
  local render = need('job/render')
  if count == 1 then
    local jid = jids[1]
    if related == nil then related = need('dependency/any_related')(jids, 1, 1) end
    return render(jid, jobs[1], tracked and tracked[jid], related, '[', worker, ends) .. ']'
  end
  related = need('dependency/any_related')(jids, 1, count)
  local parts = {}
  for i = 1, count do
    local jid = jids[i]
    parts[i] = render(jid, jobs[i], tracked and tracked[jid], related, i == 1 and '[' or ',', worker, ends)
  end
  parts[count] = parts[count] .. ']'
  return join(parts, count)
end
