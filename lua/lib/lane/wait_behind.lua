-- Makes a job wait for the one before it in its lane. If a key of these dependencies is of another type, it need not
-- wait: that must not stop a queue.
-- Takes: jid; the jid before it
-- Result: whether it waits
return function(jid, before)
  local ok, why = pcall(need('dependency/link'), jid, {before})
  if not ok and not string.find(need('value/error_text')(why), 'WRONGTYPE', 1, true) then error(why, 0) end
  return ok
end
