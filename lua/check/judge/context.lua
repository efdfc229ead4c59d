-- The book of one look: what is asked for, how places are read, what was found. What only a finding
-- needs stands in check_notes and check_plan, and is not built before there is one.
local Brief = Fields('jid', 'state', 'queue', 'klass')
local Job = Fields(Brief, 'priority', 'tags', 'retries', 'remaining', 'worker', 'expires', 'time', 'failure',
  'grace', 'scheduled', 'spawned_from_jid')


-- Returns sets of the findings that are left out and of the only ones, false for all. Of a list with a
-- word that is none nil and that word.
local function chosen(findings)
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
    out, only = chosen(findings)
    if not out then return nil, only end
  end
  local built, number = {}, need('value/number')
  local states = {waiting = 1, running = 1, stalled = 1, scheduled = 1, depends = 1, failed = 1, complete = 1}
  local c = {now = now, t = t, repair = repair, run = run, out = out, only = only, states = states,
    rows = {}, pending = {}, relisted = 0, wrote = false, refused = false}
  setmetatable(c, {__index = function(_, name)
    local noting = name == 'outcome' or name == 'add' or name == 'flush' or name == 'wrong_type'
    need(noting and 'repair/record' or 'repair/plan')(c)
    return rawget(c, name)
  end})

  -- Reads. Returns nil and true if the key is of another kind; any other refusal is raised, for
  -- who may not look must not call it clean.
  local function ask(...)
    local reply = redis.pcall(...)
    if type(reply) == 'table' and reply.err then
      if string.find(reply.err, 'WRONGTYPE', 1, true) then return nil, true end
      return redis.call(...)
    end
    return reply
  end
  c.ask = ask

  -- Returns a room of this look, built once.
  function c.need(name)
    local part = built[name]
    if not part then
      part = need(name)(c)
      built[name] = part
    end
    return part
  end

  -- Reads a job. Returns what it is, and its fields: `gone` (no key), `type` (no hash), `stub`
  -- (nothing of a job is left), `odd` (it can't be told where it belongs), `job`. `brief`: of the
  -- fields only jid, state, queue and klass.
  function c.read(jid, brief)
    local key, r, wrong = Keys.job .. jid, nil, nil
    if brief then
      r, wrong = ask('hmget', key, unpack(Brief))
    else
      r, wrong = ask('hmget', key, unpack(Job))
    end
    if wrong then return 'type' end
    local j = {id = jid, key = key, jid = r[Job.jid], state = r[Job.state], queue = r[Job.queue], klass = r[Job.klass], priority = r[Job.priority],
      tags = r[Job.tags], retries = r[Job.retries], remaining = r[Job.remaining], worker = r[Job.worker], expires = r[Job.expires], time = r[Job.time], failure = r[Job.failure],
      grace = r[Job.grace], scheduled = r[Job.scheduled], spawned = r[Job.spawned_from_jid]}
    if j.jid == jid and states[j.state] and j.queue then return 'job', j end
    if not j.jid and not j.klass then
      if not j.state and redis.call('exists', key) == 0 then return 'gone' end
      if not ask('hget', key, 'data') then return 'stub', j end
    end
    return 'odd', j
  end

  -- Whether a score of the work set is one that a job of this priority can have.
  function c.fits_priority(j, score)
    local n, p = tonumber(score), number(j.priority) or 0
    if n == math.huge then return j.state == 'stalled' end
    return (n > p - 1 or p - 1 == p and n == p) and n <= p + 1e-6 + math.abs(p) * 1e-12
  end
  return c
end
