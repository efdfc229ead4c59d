-- Decides during a pop which jobs with a lane or throttles may run. Most queues have no such jobs.
-- Takes: now; t; seconds; queue; a list of the queue's defaults as text, or false, the setting `max-job-history`, and
--   what the call may still bring (queue/call_budget), in which a scan that ends at its limit sets `unfinished`
-- Result: a table of `judge_lost` for jobs whose lock expired, `recheck` for held jobs, `scan` for the work set, and
--   `wake`, which has to follow when the pop has read its last job; with `single` set, `scan` looks at the given page
--   only
-- Publishes: as queue/admit
local Job = Fields('job/read')

return function(now, t, seconds, queue, settings)
  local call, base, stored, limit, budget = redis.call, Keys.queue .. queue, unpack(settings, 1, 3)
  local gate = need('throttle/gate')(now, t, seconds, queue)
  local defaults = stored and need('option/defaults')(stored)
  local admit = need('queue/admit')(now, t, seconds, queue, gate, {defaults = defaults, limit = limit})
  local decider, checked = {wake = gate.wake}, false

  -- Decides on the job at index `i` of the lists, whose lock has expired. If the job may not run again now, removes it
  -- from the lists, and takes its lock and its slots, which it has kept since the expiry.
  function decider.judge_lost(jids, jobs, i)
    local jid, job = jids[i], jobs[i]
    if admit(jid, job, true) then return end
    table.remove(jids, i)
    table.remove(jobs, i)
    call('zrem', base .. Keys.locks, jid)
    call('hmset', Keys.job .. jid, 'worker', '', 'expires', '0', 'remaining', job[Job.remaining] or '0')
    if job[Job.grace] then call('hdel', Keys.job .. jid, 'grace') end
    gate.release(jid, need('job/tags')(job[Job.throttles]))
  end

  -- Checks again, once per pop, whether held jobs may run. Returns whether any of them returned to the work set.
  function decider.recheck()
    if checked then return false end
    checked = true
    return need('throttle/recheck')(now, queue, gate) > 0
  end

  -- Continues a pop that met a job with a lane or throttles, at index `at` of a page of the work set, or that found too
  -- few jobs (then `page` is empty). Adds jobs to the lists in `found`, until there are `rest` more than `taken`. Jobs
  -- that may not run leave the work set. In `start`, `from` is the rank at which the page begins, `job` is the job that
  -- the pop met, `held` says whether throttles hold jobs of the queue, and `due` whether more jobs may be due.
  -- Returns the number of jobs in the lists.
  function decider.scan(rest, found, start)
    local jids, jobs, count, taken = found.jids, found.jobs, found.count, found.taken
    local page, from, at, job, due = start.page, start.from, start.at, start.job, start.due
    -- `passed` counts the jobs that this pop met but did not add. The scan ends when `passed` reaches `most`.
    local read, decide, seen, passed, most = need('job/read'), need('queue/pop_decision'), nil, 0, nil
    local function limit_scan()
      most = most or math.min(need('value/number')(redis.pcall('hget', Keys.config, 'max-pop-scan')) or 1000, 5000)
    end
    -- A decision may move other jobs. So note the jobs seen: the scan decides on each job once, until it begins again.
    local function begin()
      seen = {}
      for i = 1, count do seen[jids[i]] = true end
    end
    begin()
    local step, drop, missed, dropped = 1, {}, 0, 0
    from = from + at - 1
    local function leave_set()
      if drop[1] then need('value/in_chunks')('zrem', base .. Keys.work, drop, 1, #drop) end
      from, dropped, drop = from - #drop, dropped + #drop, {}
    end
    gate.before_heal = leave_set
    while true do
      for i = at, #page, step do
        if rest > 0 and count - taken >= rest or most and passed >= most then break end
        local jid = page[i]
        from = from + 1
        if not seen[jid] then
          seen[jid] = true
          job = job or read(jid)
          local what = decide(queue, t, jid, job)
          if what == 'take' and not admit(jid, job, false, step == 2 and page[i + 1]) then what = 'drop' end
          if what == 'take' then
            count = count + 1
            jids[count], jobs[count] = jid, job
          else
            missed, passed = missed + 1, passed + 1
            limit_scan()
          end
          if what == 'drop' then drop[#drop + 1] = jid end
          job = nil
        end
      end
      leave_set()
      if most and passed >= most and dropped > 0 and budget then budget.unfinished = true end
      if rest < 0 or decider.single or count - taken >= rest or most and passed >= most then return count end
      if missed == 0 or not page[1] then
        local returned, brought, apart = start.held and decider.recheck(), 0, 0
        if due then
          limit_scan()
          -- Once this pop has taken jobs, put no jobs of templates: a put would drop the slots of the taken jobs, since
          -- they do not run yet.
          due, brought, apart = need('queue/due')(now, t, queue, math.max(rest - count + taken, 20), budget,
            count > taken)
        end
        if not returned and not gate.healed and brought == 0 then return count end
        passed = passed + apart
        gate.healed, from = nil, 0
        begin()
      end
      -- Read at least 20 entries: if many jobs may not run, the reads of many small pages would cost most.
      local want = math.max(rest - count + taken, 20)
      page, at, step, missed = call('zrevrange', base .. Keys.work, from, from + want - 1, 'WITHSCORES'), 1, 2, 0
      if page[1] then missed = 1 end
    end
  end
  return decider
end
