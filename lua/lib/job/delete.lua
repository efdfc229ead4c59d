-- Deletes jobs with everything that belongs to them. Completed jobs are left alone.
-- Takes: now; jids; whether any may have dependencies; whether any may be tracked; by jid, jobs that the caller has
--   read and found correct, with their `dependencies` and `tag_list`; the maximum number of tags and dependencies
--   of several jobs, if there is a limit
-- Refuses: more tags and dependencies
-- Publishes: `canceled` to the log and to the holder, for each job; the jid to `canceled` if tracked
local Job = Fields('state', 'queue', 'failure', 'worker', 'tags', 'throttles')

-- Removes a job to delete from its lane, closes its window of uniqueness, deletes its payloads, and frees its slots and
-- places in its throttles.
-- Takes: now; jid; state; queue; its stored throttles
local function leave_all(now, jid, state, queue, throttles)
  local call = redis.call
  local lane = call('hget', Keys.job .. jid, 'key')
  if lane then
    need('lane/leave')(now, lane, jid)
    call('del', Keys.job .. jid .. Keys.payloads)
    need('lane/close_window')(lane, jid)
  end
  need('throttle/leave')(jid, state, queue, throttles)
end

local call, encode = redis.call, cjson.encode

return function(now, jids, related, tracked, known, max_links)
  local count = #jids
  local failed, untag, remove_from_state_set
  -- Read all jobs before the first is deleted, so that a key of another type stops the call before it writes.
  local jobs, deleted, tags_of, links = {}, {}, nil, 0
  for i = 1, count do
    local job = known and known[jids[i]]
    if not job then
      job = call('hmget', Keys.job .. jids[i], unpack(Job))
      if job[Job.tags] and job[Job.tags] ~= '{}' then
        tags_of = tags_of or need('job/tags')
        job.tag_list = tags_of(job[Job.tags])
        links = links + #job.tag_list
      end
      if related then
        local names = call('smembers', Keys.job .. jids[i] .. Keys.dependencies)
        for k = 1, #names do call('scard', Keys.job .. names[k] .. Keys.dependents) end
        job.dependencies = names
        links = links + #names
      end
      if max_links and links > max_links and i > 1 then
        error('Cancel(): jids with more than ' .. max_links .. ' tags and dependencies')
      end
    end
    jobs[i] = job
  end
  for i = 1, count do
    local jid = jids[i]
    local key = Keys.job .. jid
    local job = deleted[jid] and {false, false, false, false, false} or jobs[i]
    local state, queue, worker = job[Job.state], job[Job.queue], job[Job.worker]
    if state ~= 'complete' then
      local message = '{"jid":' .. encode(jid) .. ',"queue":' .. encode(queue) .. ',"event":"canceled","worker":' ..
        (worker == '' and '""' or encode(worker)) .. '}'
      call('publish', Keys.on_log, message)
      if worker and worker ~= '' then
        call('zrem', Keys.worker .. worker .. Keys.held, jid)
        call('publish', Keys.worker .. worker, message)
      end
      if job[Job.throttles] then
        leave_all(now, jid, state, queue or '', job[Job.throttles])
      end
      if state == 'waiting' and queue and call('zrem', Keys.queue .. queue .. Keys.work, jid) == 1 then
        queue = nil
      end
      if queue then
        remove_from_state_set = remove_from_state_set or need('queue/remove_from_state_set')
        remove_from_state_set(jid, state, queue)
      end
      local names = job.dependencies
      if names then
        for k = 1, #names do call('srem', Keys.job .. names[k] .. Keys.dependents, jid) end
      end
      if state == 'failed' then
        if count == 1 then
          need('failure/leave')(jid, job[Job.failure], queue or '')
        else
          failed = failed or {}
          failed[#failed + 1] = {jid, job[Job.failure], queue or ''}
        end
      end
      if job.tag_list then
        untag = untag or need('job/untag')
        untag(jid, job.tag_list)
      end
      if tracked and call('zscore', Keys.tracked, jid) then call('publish', Keys.on_canceled, jid) end
      call('del', key, key .. Keys.history, key .. Keys.dependencies, key .. Keys.dependents)
      deleted[jid] = true
    end
  end
  if failed then need('failure/leave_many')(failed) end
end
