-- Judges the dependencies of a put that replaces another job. As in any put, one on that job itself is none, but
-- guard.put refuses it.
-- Takes: jid of the job that is replaced; the options as job/put takes them, of which `pending` is changed; the command
--   as errors name it
-- Returns: nil; or the jids of the cycle that they would close
return function(jid, o, who)
  local names, pending = {}, {}
  for i = 1, #o.depends do
    if o.depends[i] ~= jid or who == 'Guard' then names[#names + 1] = o.depends[i] end
  end
  local path = need('dependency/find_cycle')(jid, names, true)
  -- A search that ends too early finds nothing, but must not let a cycle pass.
  if path ~= nil then return path or {jid} end
  for i = 1, #o.pending do
    if o.pending[i] ~= jid then pending[#pending + 1] = o.pending[i] end
  end
  o.pending = pending
end
