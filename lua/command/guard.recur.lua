-- Pauses, resumes and changes templates. No client but this core sees a paused template, so none creates its
-- jobs. Resumed, it is as it was, without the runs that fell into the pause.
-- Takes: pause note jid ...; resume jid ...; remove jid ...; update next jid [key value ...], as recur.update: an empty
--   `next` keeps the time; tag jid tag ..., untag jid tag ..., as recur.tag and recur.untag;
--   put note queue jid ..., as recur: paused if the note has a number `since`, with a count of at least its number
--   `count`
-- Result: per jid: outcome, mark (`''`) and the time of the next run, or the tags: `done` (also if nothing had to be
--   done), `gone`, `exists` (another template of this id was created meanwhile), `invalid` (why)
-- Refuses: other verbs, notes that are not flat JSON objects, a `next` that is not a number, what recur and
--   recur.update refuse
local verbs = {}

local function keys_of(jid)
  local key = Keys.recurring .. jid
  local bad = need('value/key_fault')()('hash', Keys.paused_recurring, 'hash', key)
  if bad then return bad end
  local queue = redis.call('hget', key, 'queue')
  return need('value/key_fault')()('zset', Keys.queue .. (queue or '') .. Keys.recur)
end

function verbs.pause(jid, live, document, _, t, about)
  if live then
    if document then return 'exists' end
    need('recurring/pause')(jid, t, about)
  end
  return 'done'
end

function verbs.resume(jid, live, document, now, t)
  if live then return document and 'exists' or 'done' end
  return 'done', need('recurring/resume')(now, t, jid, document)
end

function verbs.remove(jid, live)
  if live then need('unrecur', true)({'unrecur', '', jid}) end
  redis.call('hdel', Keys.paused_recurring, jid)
  return 'done'
end

-- Changes a template by calling `change`. A paused template is restored only for the change, and stays paused. If the
-- change fails, nothing is changed.
local function changed(jid, change)
  local call, outcome = redis.call, need('value/outcome_row')
  local bad, key = keys_of(jid), Keys.recurring .. jid
  local live, document = not bad and call('exists', key) == 1, nil
  if not bad and not live then document, bad = need('recurring/paused')(jid) end
  local set = document and Keys.queue .. (document.named.queue or '') .. Keys.recur
  bad = bad or set and need('value/key_fault')()('zset', set)
  if bad then return {outcome('invalid', '', bad)} end
  if live then return {outcome('done', '', change())} end
  if not document then return {outcome('gone', '')} end
  call('hmset', key, unpack(document.fields))
  if document.next then call('zadd', set, document.next, jid) end
  local ok, reply = pcall(change)
  if ok then
    need('recurring/pause')(jid, document.since, document)
    return {outcome('done', '', reply)}
  end
  call('zrem', set, jid)
  call('del', key)
  error(reply, 0)
end

local function note_of(seconds, text)
  return need('history/note')(seconds, text) and cjson.decode(text) or {}
end

return function(argv, now, t, seconds)
  local call, outcome = redis.call, need('value/outcome_row')
  local verb, word = argv[3], argv[4]
  if not word then error('Guard(): verb or argument missing') end
  local function words_from(first, name)
    local words = {name, argv[2]}
    for i = first, #argv do words[#words + 1] = argv[i] end
    return words
  end
  if verb == 'put' then
    local about, jid = note_of(seconds, word), argv[6]
    if not jid then error('Guard(): no jid') end
    local bad = keys_of(jid)
    if bad then return {outcome('invalid', '', bad)} end
    need('recur', true)(words_from(5, 'recur'), now, t, seconds)
    local paused = need('recurring/paused')(jid)
    call('hdel', Keys.paused_recurring, jid)
    local key, count = Keys.recurring .. jid, tonumber(about.count) or 0
    count = math.max(count, paused and tonumber(paused.named.count) or 0)
    if count > (tonumber(call('hget', key, 'count')) or 0) then
      call('hset', key, 'count', string.format('%.0f', count))
    end
    if type(about.since) == 'number' then
      need('recurring/pause')(jid, string.format('%.17g', about.since), about)
    end
    return {outcome('done', '')}
  elseif verb == 'update' then
    local jid = argv[5]
    if not jid then error('Guard(): no jid') end
    local due = need('value/number')(word)
    if word ~= '' and not due then error('Guard(): next is not a number: ' .. word) end
    return changed(jid, function()
      need('recur.update', true)(words_from(5, 'recur.update'), now, t, seconds)
      local queue = call('hget', Keys.recurring .. jid, 'queue') or ''
      if due then call('zadd', Keys.queue .. queue .. Keys.recur, string.format('%.17g', due), jid) end
      return word
    end)
  elseif verb == 'tag' or verb == 'untag' then
    return changed(word, function()
      local words = words_from(4, 'recur.' .. verb)
      if verb == 'tag' then return need('recur.tag', true)(words) end
      return need('recur.untag', true)(words)
    end)
  elseif not verbs[verb] then
    error('Guard(): unknown verb ' .. verb)
  end
  local about = verb == 'pause' and note_of(seconds, word)
  local reply, first = {}, about and 5 or 4
  if #argv - first >= 500 then error('Guard(): more than 500 jids') end
  for i = first, #argv do
    local jid = argv[i]
    local bad = keys_of(jid)
    local live = not bad and call('exists', Keys.recurring .. jid) == 1
    local document, fault
    if not bad then document, fault = need('recurring/paused')(jid) end
    bad = bad or verb ~= 'remove' and fault
    if bad then
      reply[#reply + 1] = outcome('invalid', '', bad)
    elseif not live and not document and not fault then
      reply[#reply + 1] = outcome('gone', '')
    else
      local code, next_run = verbs[verb](jid, live, document, now, t, about)
      reply[#reply + 1] = outcome(code, '', next_run)
    end
  end
  return reply
end
