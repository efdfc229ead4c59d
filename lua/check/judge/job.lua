-- Returns a function that judges one job: its fields, its history, where it is, and all that
-- names it or is named by it.
return function(c)
  local healthy = c.room('check_healthy')
  return function(jid)
    if healthy(jid) then return end
    local what, j = c.read(jid)
    local reserved = need('reserved')(jid)
    if what == 'gone' or what == 'type' then
      -- Another job's companion is no job of the wrong kind.
      if what == 'type' and not reserved then c.wrong_type(Keys.job .. jid, 'hash') end
      return
    end
    if reserved then c.add('key-type', 'j:' .. jid, 'job id with a reserved ending', {}, 'job') end
    c.room('check_stub')(j, what)
    if what == 'stub' then return end
    c.room('check_fields')(j, what)
    c.room('check_history')(j)
    if what == 'odd' then return end
    c.room('check_places')(j)
    if j.state == 'running' then c.room('check_running')(j) end
    c.room('check_complete')(j)
    if j.state == 'failed' then c.room('check_failed')(j) end
    c.room('check_edges').both(j)
    c.room('check_job_tags')(j)
    c.room('check_child')(j)
    if j.state ~= 'complete' then c.room('check_listed')(j.queue) end
    c.room('check_leftovers')(j)
  end
end
