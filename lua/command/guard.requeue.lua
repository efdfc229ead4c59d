-- Puts existing jobs into a queue again, as they are stored, unless a job has changed since the client read its mark.
-- Takes: options note, then per job: jid mark due
--   `options`: from (states; default failed), to, priority, keep (the remaining retries)
-- Result: per job outcome, mark and details: `done` (state, or `merged` if the last job of its lane took its
--   payloads; queue), `gone`, `state_changed`, `invalid` (why)
-- Refuses: wrong words, more than 500 jobs
-- Publishes: as put and merge/vanish
local Job = Fields('jid', 'state', 'queue', 'worker', 'priority', 'retries', 'remaining', 'failure',
  'history', 'grace', 'scheduled', 'throttles')

local call = redis.call

return function(argv, now, t, seconds)
  local options = need('value/object_arg')('options', argv[3],
    {from = 'table', to = 'string', priority = 'number', keep = 'boolean'})
  local states, from = {failed = true}, options.from
  if from then
    states = {}
    for _, state in pairs(from) do
      if state ~= 'waiting' and state ~= 'running' and state ~= 'stalled' and state ~= 'scheduled'
        and state ~= 'depends' and state ~= 'throttled' and state ~= 'failed' and state ~= 'complete' then
        error('Guard(): unknown state in from: ' .. tostring(state))
      end
      states[state] = true
    end
  end
  local note = need('history/note')(seconds, argv[4])
  local count = (#argv - 4) / 3
  if count % 1 ~= 0 then error('Guard(): jid, mark and due for each job') end
  if count > 500 then error('Guard(): more than 500 jobs') end
  local dues = {}
  for i = 1, count do
    local text = argv[4 + 3 * i]
    if text ~= '' then
      local due = need('value/number')(text)
      if not due then error('Guard(): due is not a number: ' .. text) end
      if due > now then dues[i] = string.format('%.17g', due) end
    end
  end

  local reply, failed, listed, progress, place = {}, {}, {}, {}, need('queue/place')
  local outcome, mark_of, number = need('value/outcome_row'), need('job/mark'), need('value/number')
  local key_fault, job_key_fault = need('value/key_fault')(progress), need('job/key_fault')
  local remove_from_state_set, lock_lost = need('queue/remove_from_state_set'), need('job/lock_lost')
  local trim, whole_tries, enter = need('history/trim'), need('value/whole_tries'), need('throttle/enter')
  local tracking, stamp = call('exists', Keys.tracked) == 1, string.format('%.20f', now)
  local limit = need('history/limit')()
  local function requeue(i)
    local jid, mark, due = argv[2 + 3 * i], argv[3 + 3 * i], dues[i]
    local key = Keys.job .. jid
    local job = redis.pcall('hmget', key, unpack(Job))
    local state, home = job[Job.state], job[Job.queue]
    if job.err then
      local fault = need('value/wrong_type')(job, progress.wrote, 'hash', key, 'hmget', key, 'jid', 'state')
      reply[i] = outcome('invalid', '', fault)
    elseif not job[Job.jid] then
      reply[i] = outcome('gone', '')
    else
      local present = mark_of(jid, state, home)
      if not states[state] or mark ~= '' and mark ~= present then
        reply[i] = outcome('state_changed', present)
      else
        local queue = options.to or home
        if not options.to and state == 'complete' then queue = need('history/last_queue')(jid) end
        local invalid
        if not queue then
          invalid = 'no queue known'
        elseif queue == '' then
          invalid = 'queue name is empty'
        else
          local base = Keys.queue .. queue
          invalid = key_fault('zset', Keys.queues, 'zset', base .. Keys.work, 'zset', base .. Keys.scheduled,
            'zset', base .. Keys.depends)
            or job_key_fault(key_fault, jid,
              {state = state, queue = home, worker = job[Job.worker], failure = job[Job.failure]})
        end
        local throttles = not invalid and job[Job.throttles]
        if throttles and not due then invalid = need('throttle/key_fault')(key_fault, queue, throttles) end
        local ext = throttles and call('hmget', key, 'key', 'dup') or {}
        if not invalid and ext[2] == 'merge' then invalid = key_fault('zset', key .. Keys.payloads) end
        if invalid then
          reply[i] = outcome('invalid', present, invalid)
        elseif state == 'failed' and ext[2] == 'merge' and not due
          and need('merge/into_last')(now, jid, ext[1], queue) then
          progress.wrote = true
          failed[#failed + 1] = {jid, job[Job.failure], home or ''}
          reply[i] = outcome('done', '', 'merged', queue)
        else
          local worker = job[Job.worker]
          progress.wrote = true
          if job[Job.history] then need('history/migrate')(jid, job[Job.history]) end
          local quoted, history = cjson.encode(queue), key .. Keys.history
          local entry, length = '[' .. seconds .. ',"put",{"q":' .. quoted .. '}]', nil
          if note then
            length = call('rpush', history, entry, note)
          else
            length = call('rpush', history, entry)
          end
          if length > limit then trim(history, length, limit) end
          call('publish', Keys.on_log, '{"jid":' .. cjson.encode(jid) .. ',"event":"put","queue":' .. quoted .. '}')
          if state == 'complete' then
            call('zrem', Keys.completed, jid)
            if php then need('job/unlist_complete')(jid) end
          elseif home and state ~= 'failed' then
            remove_from_state_set(jid, state, home)
          end
          if worker and worker ~= '' then
            call('zrem', Keys.worker .. worker .. Keys.held, jid)
            lock_lost(jid, worker)
          end
          local priority = options.priority or number(job[Job.priority]) or 0
          local retries = number(job[Job.retries]) or 5
          local remaining = options.keep and number(job[Job.remaining]) or retries
          if throttles then need('throttle/leave')(jid, state, home or '', throttles) end
          if ext[1] then need('lane/rejoin')(now, ext[1], jid) end
          if ext[2] == 'merge' then call('hset', key, 'data', need('merge/compose')(jid)) end
          local placed = due and 'scheduled' or 'waiting'
          if call('exists', key .. Keys.dependencies) == 1 then placed = 'depends' end
          call('hmset', key, 'state', placed, 'worker', '', 'expires', '0', 'queue', queue, 'priority', priority,
            'remaining', whole_tries(remaining), 'time', stamp)
          local leftover = job[Job.scheduled]
          local held = {throttles = throttles, priority = priority, limit = limit}
          if placed == 'waiting' and throttles and enter(now, t, seconds, queue, jid, held) then
            placed = 'throttled'
          elseif place(now, t, jid, queue, placed, placed == 'waiting' and priority or due) then
            leftover = false
          end
          if job[Job.grace] then call('hdel', key, 'grace') end
          if leftover then call('hdel', key, 'scheduled') end
          if not listed[queue] then
            call('zadd', Keys.queues, 'NX', t, queue)
            listed[queue] = true
          end
          if tracking and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_put, jid) end
          if state == 'failed' then failed[#failed + 1] = {jid, job[Job.failure], home or ''} end
          reply[i] = outcome('done', '', placed, queue)
        end
      end
    end
  end
  for i = 1, count do
    -- Report a key of a wrong type as the outcome of its job. An error would end the call after some jobs were moved.
    local ok, why = pcall(requeue, i)
    local text = not ok and need('value/error_text')(why)
    if text and not (progress.wrote and string.find(text, 'WRONGTYPE', 1, true)) then error(why, 0) end
    if text then reply[i] = outcome('invalid', '', text) end
  end
  if failed[1] then need('failure/leave_many')(failed) end
  return reply
end
