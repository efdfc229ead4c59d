-- Renders jobs as a JSON array.
-- Takes: jids; the replies of job/read; their number; the set of tracked jids, or false; for a single job,
--   whether it may have dependencies or dependents, if the caller knows; the holder of all, as job/render takes it
-- Result: the text, `{}` without jobs

-- Joins up to 20 texts, or up to 100, with one chain of `..`: the Lua of Redis hashes every byte of each text that it
-- creates, and `table.concat` would create each text three times.
local function join_some(list, from, count)
  if count <= 20 then
    for i = from + count, from + 19 do list[i] = '' end
    return list[from] .. list[from + 1] .. list[from + 2] .. list[from + 3] .. list[from + 4] .. list[from + 5] ..
      list[from + 6] .. list[from + 7] .. list[from + 8] .. list[from + 9] .. list[from + 10] .. list[from + 11] ..
      list[from + 12] .. list[from + 13] .. list[from + 14] .. list[from + 15] .. list[from + 16] ..
      list[from + 17] .. list[from + 18] .. list[from + 19]
  end
  for i = from + count, from + 99 do list[i] = '' end
  return list[from] .. list[from + 1] .. list[from + 2] .. list[from + 3] .. list[from + 4] .. list[from + 5] ..
    list[from + 6] .. list[from + 7] .. list[from + 8] .. list[from + 9] .. list[from + 10] .. list[from + 11] ..
    list[from + 12] .. list[from + 13] .. list[from + 14] .. list[from + 15] .. list[from + 16] ..
    list[from + 17] .. list[from + 18] .. list[from + 19] .. list[from + 20] .. list[from + 21] ..
    list[from + 22] .. list[from + 23] .. list[from + 24] .. list[from + 25] .. list[from + 26] ..
    list[from + 27] .. list[from + 28] .. list[from + 29] .. list[from + 30] .. list[from + 31] ..
    list[from + 32] .. list[from + 33] .. list[from + 34] .. list[from + 35] .. list[from + 36] ..
    list[from + 37] .. list[from + 38] .. list[from + 39] .. list[from + 40] .. list[from + 41] ..
    list[from + 42] .. list[from + 43] .. list[from + 44] .. list[from + 45] .. list[from + 46] ..
    list[from + 47] .. list[from + 48] .. list[from + 49] .. list[from + 50] .. list[from + 51] ..
    list[from + 52] .. list[from + 53] .. list[from + 54] .. list[from + 55] .. list[from + 56] ..
    list[from + 57] .. list[from + 58] .. list[from + 59] .. list[from + 60] .. list[from + 61] ..
    list[from + 62] .. list[from + 63] .. list[from + 64] .. list[from + 65] .. list[from + 66] ..
    list[from + 67] .. list[from + 68] .. list[from + 69] .. list[from + 70] .. list[from + 71] ..
    list[from + 72] .. list[from + 73] .. list[from + 74] .. list[from + 75] .. list[from + 76] ..
    list[from + 77] .. list[from + 78] .. list[from + 79] .. list[from + 80] .. list[from + 81] ..
    list[from + 82] .. list[from + 83] .. list[from + 84] .. list[from + 85] .. list[from + 86] ..
    list[from + 87] .. list[from + 88] .. list[from + 89] .. list[from + 90] .. list[from + 91] ..
    list[from + 92] .. list[from + 93] .. list[from + 94] .. list[from + 95] .. list[from + 96] ..
    list[from + 97] .. list[from + 98] .. list[from + 99]
end

local join
join = function(list, count)
  if count <= 100 then return join_some(list, 1, count) end
  local all = {}
  for from = 1, count, 100 do all[#all + 1] = join_some(list, from, math.min(100, count - from + 1)) end
  return join(all, #all)
end

return function(jids, jobs, count, tracked, related, holder)
  if count == 0 then return '{}' end
  local render = need('job/render')
  if count == 1 then
    local jid = jids[1]
    if related == nil then related = need('dependency/any_related')(jids, 1, 1) end
    return render(jid, jobs[1], tracked and tracked[jid], related, '[', holder) .. ']'
  end
  related = need('dependency/any_related')(jids, 1, count)
  local parts = {}
  for i = 1, count do
    local jid = jids[i]
    parts[i] = render(jid, jobs[i], tracked and tracked[jid], related, i == 1 and '[' or ',', holder)
  end
  parts[count] = parts[count] .. ']'
  return join(parts, count)
end
