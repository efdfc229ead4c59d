-- The book of one look: what is asked for, how places are read, what was found. Nothing is
-- written before an item has been judged; then `flush` writes what the book says.

-- Returns changes with those first that add something: they are what a full server refuses, and what
-- nobody may miss if it does.
local function ordered(changes)
  if not changes[2] then return changes end
  local list = {}
  for i = 1, #changes do
    if changes[i][3] and changes[i][5] then list[#list + 1] = changes[i] end
  end
  for i = 1, #changes do
    if not (changes[i][3] and changes[i][5]) then list[#list + 1] = changes[i] end
  end
  return list
end

-- Returns three sets of a list of findings: the known, those left out, the only ones, nil for all. Of
-- a list with a word that is none nil and that word.
local function chosen(findings)
  local known, only, out = need('check_outcomes')(), nil, {}
  if findings ~= '' then
    for word in string.gmatch(findings .. ',', '([^,]*),') do
      local id = string.match(word, '^%-?([a-z%-]*)$')
      if not id or not known[id] then return nil, word end
      if string.byte(word) == 45 then
        out[id] = true
      else
        only = only or {}
        only[id] = true
      end
    end
  end
  return known, out, only
end

return function(now, t, mend, run, findings)
  local known, out, only = chosen(findings)
  if not known then return nil, out end
  local c, rows, pending, told, rooms = {now = now, t = t, mend = mend, run = run}, {}, {}, {}, {}
  local states = {waiting = 1, running = 1, stalled = 1, scheduled = 1, depends = 1, failed = 1, complete = 1}
  local number, write = need('number'), nil
  c.rows, c.relisted = rows, 0

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
  function c.room(name)
    local room = rooms[name]
    if not room then
      room = need(name)(c)
      rooms[name] = room
    end
    return room
  end

  -- Returns what would become of a finding, nil if it is not asked for.
  function c.outcome(id, case)
    if out[id] or only and not only[id] then return nil end
    local word = known[case and id .. ' ' .. case or id]
    if word == 'decide' and only then return 'found' end
    return word
  end

  -- Notes a finding, once. `changes`: kind of key, key, item, before, after (false for none) each.
  function c.add(id, item, detail, changes, case)
    local word = c.outcome(id, case)
    if not word then return end
    local name = id .. '\n' .. item .. '\n' .. detail
    if told[name] then return end
    told[name] = true
    changes = changes or {}
    if word ~= 'report' and not changes[1] then word = 'report' end
    pending[#pending + 1] = {id, item, word, detail, word == 'report' and {} or ordered(changes)}
  end

  function c.wrong_type(key, kind) c.room('check_type')(key, kind) end

  -- Writes what was found, if this is to mend, and enters it into the reply. What the server refuses
  -- is raised, unless this call has written before: then it stays `found`, and the call ends there.
  function c.flush()
    if not pending[1] then return end
    for i = 1, #pending do
      local id, item, word, detail, changes = unpack(pending[i])
      if mend and word == 'found' and not c.refused then
        write = write or need('check_write')()
        local made = write(changes, c.wrote)
        if made then
          word, changes, c.wrote = 'mended', made, c.wrote or made[1] ~= nil
        else
          c.refused = true
        end
      end
      local row = {id, item, word, detail}
      for k = 1, #changes do
        local change = changes[k]
        row[k + 4] = {change[2], change[3] or false, change[4] or false, change[5] or false}
        if change[1] == 'list' then c.relisted = c.relisted + 1 end
      end
      rows[#rows + 1] = row
    end
    pending = {}
  end

  -- Reads a job. Returns what it is, and its fields: `gone` (no key), `type` (no hash), `stub`
  -- (nothing of a job is left), `odd` (it can't be told where it belongs), `job`. `brief`: of the
  -- fields only jid, state, queue and klass.
  function c.read(jid, brief)
    local key, r, wrong = Keys.job .. jid, nil, nil
    if brief then
      r, wrong = ask('hmget', key, 'jid', 'state', 'queue', 'klass')
    else
      r, wrong = ask('hmget', key, 'jid', 'state', 'queue', 'klass', 'priority', 'tags', 'retries', 'remaining',
        'worker', 'expires', 'time', 'failure', 'grace', 'scheduled', 'spawned_from_jid')
    end
    if wrong then return 'type' end
    local j = {id = jid, key = key, jid = r[1], state = r[2], queue = r[3], klass = r[4], priority = r[5],
      tags = r[6], retries = r[7], remaining = r[8], worker = r[9], expires = r[10], time = r[11], failure = r[12],
      grace = r[13], scheduled = r[14], spawned = r[15]}
    if j.jid == jid and states[j.state] and j.queue then return 'job', j end
    if not j.jid and not j.klass then
      if not j.state and redis.call('exists', key) == 0 then return 'gone' end
      if not ask('hget', key, 'data') then return 'stub', j end
    end
    return 'odd', j
  end
  c.states = states

  -- Returns a score as Redis writes it.
  function c.score(n)
    if n == math.huge then return 'inf' end
    if n == -math.huge then return '-inf' end
    return string.format('%.17g', n)
  end

  -- Returns the place of a waiting job among the others.
  function c.place(j)
    if j.state == 'stalled' then return 'inf' end
    return c.score((number(j.priority) or 0) - (number(j.time) or now) / 10000000000)
  end

  -- Whether a score of the work set is one that a job of this priority can have.
  function c.fits(j, score)
    local n, p = tonumber(score), number(j.priority) or 0
    if n == math.huge then return j.state == 'stalled' end
    return (n > p - 1 or p - 1 == p and n == p) and n <= p + 1e-6 + math.abs(p) * 1e-12
  end

  -- Returns up to 500 known queues, and whether there are more. They are read once in a call.
  local names, more
  function c.queues()
    if not names then
      names = ask('zrange', Keys.queues, 0, 500) or {}
      more = #names > 500
      names[501] = nil
    end
    return names, more
  end

  -- Returns those of their sets that are there, by queue and part, and whether there are more queues.
  -- A set that a mend of this call makes holds only what belongs into it.
  local sets
  function c.sets()
    local queues, beyond = c.queues()
    if not sets then
      sets = {}
      for i = 1, #queues do
        for _, part in ipairs({Keys.work, Keys.locks, Keys.scheduled, Keys.depends}) do
          local key = Keys.queue .. queues[i] .. part
          if redis.call('exists', key) == 1 then sets[#sets + 1] = {key = key, queue = queues[i], part = part} end
        end
      end
    end
    return sets, beyond
  end

  -- Adds to `changes` that a queue is listed, if it is not.
  function c.list(changes, queue)
    local score, wrong = ask('zscore', Keys.queues, queue)
    if not score and not wrong then changes[#changes + 1] = {'zset', Keys.queues, queue, false, c.score(now)} end
  end

  -- The move of a whole key out of the way.
  function c.aside(key)
    return {'move', key, false, false, Keys.lost .. run .. ':' .. string.sub(key, #Keys.prefix + 1)}
  end
  return c
end
