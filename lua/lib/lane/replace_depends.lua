-- Checks the dependencies of a put that replaces a job. A dependency on the replaced job is a cycle in `guard.put`, and
-- is ignored in `put`. The option `pending` loses it.
-- Takes: jid of the replaced job; the options of job/put; the name of the command for errors
-- Returns: nil; or the jids of the cycle that the dependencies would close
return function(jid, o, who)
  local names, pending = {}, {}
  for i = 1, #o.depends do
    if o.depends[i] ~= jid or who == 'Guard' then names[#names + 1] = o.depends[i] end
  end
  local path = need('dependency/find_cycle')(jid, names, true)
  -- If the search stops early, a cycle is possible.
  if path ~= nil then return path or {jid} end
  for i = 1, #o.pending do
    if o.pending[i] ~= jid then pending[#pending + 1] = o.pending[i] end
  end
  o.pending = pending
end
