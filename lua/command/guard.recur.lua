-- Pauses, resumes and changes templates. No client but this core sees a paused template, so none creates its
-- jobs. Resumed, it is as it was, without the runs that fell into the pause.
-- Takes: pause note jid ...; resume jid ...; remove jid ...; update next jid [key value ...], as recur.update;
--   put note queue jid ..., as recur: paused if the note has a number `since`
-- Returns: per jid: outcome, mark (`''`) and the time of the next run: `done` (also if nothing had to be done), `gone`,
--   `exists` (another template of this id was created meanwhile), `invalid` (why)
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
    call('hdel', Keys.paused_recurring, jid)
    if type(about.since) == 'number' then
      need('recurring/pause')(jid, string.format('%.17g', about.since), about)
    end
    return {outcome('done', '')}
  elseif verb == 'update' then
    local jid, next_run = argv[5], need('value/number')(word)
    if not jid then error('Guard(): no jid') end
    if not next_run then error('Guard(): next is not a number: ' .. word) end
    local bad = keys_of(jid)
    if bad then return {outcome('invalid', '', bad)} end
    if call('exists', Keys.recurring .. jid) == 0 then return {outcome('gone', '')} end
    need('recur.update', true)(words_from(5, 'recur.update'), now, t, seconds)
    local queue = call('hget', Keys.recurring .. jid, 'queue') or ''
    call('zadd', Keys.queue .. queue .. Keys.recur, word, jid)
    return {outcome('done', '', word)}
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
