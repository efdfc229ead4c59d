-- Returns a function that judges one job: its fields, its history, where it is, and all that
-- names it or is named by it.
return function(c)
  local healthy = c.need('judge/healthy')
  return function(jid)
    if healthy(jid) then return end
    local what, j = c.read(jid)
    local reserved = need('job/reserved')(jid)
    if what == 'gone' or what == 'type' then
      -- Another job's companion is no job of the wrong kind.
      if what == 'type' and not reserved then c.wrong_type(Keys.job .. jid, 'hash') end
      return
    end
    if reserved then c.add('key-type', 'j:' .. jid, 'job id with a reserved ending', {}, 'job') end
    c.need('judge/stub')(j, what)
    if what == 'stub' then return end
    c.need('judge/fields')(j, what)
    c.need('judge/history')(j)
    if what == 'odd' then return end
    c.need('judge/sets')(j)
    if j.state == 'running' then c.need('judge/running')(j) end
    c.need('judge/complete')(j)
    if j.state == 'failed' then c.need('judge/failed')(j) end
    c.need('judge/edges').both(j)
    c.need('judge/job_tags')(j)
    c.need('judge/child')(j)
    if j.state ~= 'complete' then c.need('index/queue_listed')(j.queue) end
    c.need('judge/leftovers')(j)
  end
end
