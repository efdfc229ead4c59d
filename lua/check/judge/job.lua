-- Checks a job: its fields, its history, its sets, and everything that names it or that it names.
-- Takes: jid
return function(c)
  local healthy = c.need('judge/healthy')
  return function(jid)
    if healthy(jid) then return end
    local what, j = c.read(jid)
    local reserved = need('job/reserved')(jid)
    if what == 'gone' or what == 'type' then
      -- The companion key of another job is not a job of the wrong type.
      if what == 'type' and not reserved then c.wrong_type(Keys.job .. jid, 'hash') end
      return
    end
    if reserved and what ~= 'stub' then c.add('key-type', 'j:' .. jid, 'job id with a reserved ending', {}, 'job') end
    c.need('judge/stub')(j, what)
    if what == 'stub' then return end
    c.need('judge/fields')(j, what)
    c.need('judge/history')(j)
    c.need('judge/legacy_history')(j)
    if what == 'odd' then return end
    c.need('judge/sets')(j)
    if j.state == 'running' then c.need('judge/running')(j) end
    c.need('judge/complete')(j)
    if j.state == 'failed' then c.need('judge/failed')(j) end
    c.need('judge/edges')(j)
    c.need('judge/job_tags')(j)
    c.need('judge/child')(j)
    if j.state ~= 'complete' then c.need('index/queue_listed')(j.queue) end
    c.need('judge/leftovers')(j)
    c.need('judge/coordination')(j)
  end
end
