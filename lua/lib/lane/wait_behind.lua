-- Makes a job depend on the job before it in its lane. If a key of the dependency has another type, the job does not
-- wait: a damaged key must not stop the queue.
-- Takes: jid; the jid before it
-- Result: whether it waits
return function(jid, before)
  local ok, why = pcall(need('dependency/link'), jid, {before})
  if not ok and not string.find(need('value/error_text')(why), 'WRONGTYPE', 1, true) then error(why, 0) end
  return ok
end
