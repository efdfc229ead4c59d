-- Checks that a failed job is in the list of its group.
-- Takes: jid
return function(c)
  return function(jid)
    local what, j = c.read(jid)
    if what == 'job' and j.state == 'failed' then c.need('judge/failed')(j) end
  end
end
