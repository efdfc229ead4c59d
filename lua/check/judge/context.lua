-- Creates the context of a call of `check.slice`: its options, its functions for reads, and its findings. The functions
-- that report or plan repairs are in `repair/record` and `repair/plan`, and are loaded with the first finding.
-- Takes: now as number and as text; whether to repair; name of the run; `findings` of check.slice
-- Result: the context; or nil and the unknown id in `findings`
local Brief = Fields('jid', 'state', 'queue', 'klass')
local Job = Fields(Brief, 'priority', 'tags', 'retries', 'remaining', 'worker', 'expires', 'time', 'failure',
  'grace', 'scheduled', 'spawned_from_jid', 'key', 'throttles', 'dup', 'hold')

-- Reads the argument `findings`. Returns the set of excluded ids, and the set of named ids (false if none is named,
-- which selects all). If an id is unknown, returns nil and that id.
local function parse_selection(findings)
  local known, only, out = need('repair/outcomes')(), false, {}
  for word in string.gmatch(findings .. ',', '([^,]*),') do
    local id = string.match(word, '^%-?([a-z%-]*)$')
    if not id or not string.find(known, "['" .. id .. "']", 1, true) then return nil, word end
    if string.byte(word) == 45 then
      out[id] = true
    else
      only = only or {}
      only[id] = true
    end
  end
  return out, only
end

return function(now, t, repair, run, findings)
  local out, only = {}, false
  if findings ~= '' then
    out, only = parse_selection(findings)
    if not out then return nil, only end
  end
  local built, number, read = {}, need('value/number'), need('value/read')
  local homes = need('judge/homes')()
  -- `latest`: the latest time that a past event may have, an hour from now. A later one is from a wrong clock.
  -- `horizon`: the latest plausible end of a lock, in 100 days. `last_due`: the latest plausible due time, in 1000
  -- years. A larger number is in milliseconds. `rounding`: the largest difference of two times that count as equal.
  -- `longest`: the maximum length in bytes of a text that is decoded.
  local check = {now = now, t = t, latest = now + 3600, horizon = now + 8640000, last_due = now + 31557600000,
    rounding = 0.001, longest = 250000, repair = repair, run = run, out = out, only = only,
    homes = homes, rows = {}, pending = {}, relisted = 0, cost = 0, wrote = false, refused = false}
  setmetatable(check, {__index = function(_, name)
    local noting = name == 'outcome' or name == 'add' or name == 'flush' or name == 'wrong_type' or name == 'write'
      or name == 'report'
    need(noting and 'repair/record' or 'repair/plan')(check)
    return rawget(check, name)
  end})

  -- Runs value/read and counts it for the cost of the call.
  local function ask(...)
    check.cost = check.cost + 1
    return read(...)
  end
  check.ask = ask

  -- Reports that a part of a key was not verified, because it is longer than `longest`.
  function check.too_long(key, part)
    check.add('not-judged', key, part .. ' beyond ' .. check.longest .. ' bytes')
  end

  -- Returns a function of `lua/check/` for this context. It is built once per call.
  function check.need(name)
    local part = built[name]
    if not part then
      part = need(name)(check)
      built[name] = part
    end
    return part
  end

  -- Returns a job as a table with the field names that the checks use, from the reply of HMGET.
  function check.job(jid, key, stored)
    return {
      id = jid,
      key = key,
      jid = stored[Job.jid],
      state = stored[Job.state],
      queue = stored[Job.queue],
      klass = stored[Job.klass],
      priority = stored[Job.priority],
      tags = stored[Job.tags],
      retries = stored[Job.retries],
      remaining = stored[Job.remaining],
      worker = stored[Job.worker],
      expires = stored[Job.expires],
      time = stored[Job.time],
      failure = stored[Job.failure],
      grace = stored[Job.grace],
      scheduled = stored[Job.scheduled],
      spawned = stored[Job.spawned_from_jid],
      lane = stored[Job.key],
      throttles = stored[Job.throttles],
      dup = stored[Job.dup],
      hold = stored[Job.hold],
    }
  end

  -- Reads a job. Returns what the key contains, then the fields of the job: `job`, `gone` (no key), `type` (not a
  -- hash), `stub` (no jid, class or data) or `odd` (jid, state or queue is missing or wrong). `brief`: read only jid,
  -- state, queue and klass.
  function check.read(jid, brief)
    local key, stored, wrong = Keys.job .. jid, nil, nil
    if brief then
      stored, wrong = ask('hmget', key, unpack(Brief))
    else
      stored, wrong = ask('hmget', key, unpack(Job))
    end
    if wrong then return 'type' end
    local job = check.job(jid, key, stored)
    if job.jid == jid and homes[job.state] ~= nil and job.queue then return 'job', job end
    if not job.jid and not job.klass then
      if not job.state and redis.call('exists', key) == 0 then return 'gone' end
      if not ask('hget', key, 'data') then return 'stub', job end
    end
    return 'odd', job
  end

  -- Returns whether the score of a job in the work set fits the job's priority.
  function check.fits_priority(job, score)
    local n, p = tonumber(score), number(job.priority) or 0
    -- A stalled job has the score infinity, to be first. It keeps this score if a throttle held it and released it.
    if n == math.huge then return job.state == 'stalled' or job.state == 'waiting' and job.throttles end
    return (n > p - 1 or p - 1 == p and n == p) and n <= p + 1e-6 + math.abs(p) * 1e-12
  end
  return check
end
