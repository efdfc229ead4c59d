-- Lists tracked jobs, or starts or stops tracking one.
-- Takes: nothing | track jid | untrack jid
-- Result: the tracked jobs and the tracked jids without a job; or `1` if something changed, else `0`
-- Refuses: a missing job, unknown verbs
-- Publishes: the jid to `track` or `untrack`
local Job = Fields('job/read')

return function(argv, _, t)
  local call = redis.call
  local verb, jid = argv[3], argv[4]
  if not verb then
    local read = need('job/read')
    local all, jids, jobs, expired, tracked = call('zrange', Keys.tracked, 0, -1), {}, {}, {}, {}
    for i = 1, #all do
      local job = read(all[i], 'shown')
      if job[Job.jid] then
        jids[#jids + 1], jobs[#jobs + 1] = all[i], job
        tracked[all[i]] = true
      else
        expired[#expired + 1] = all[i]
      end
    end
    return '{"jobs":' .. need('job/render_all')(jids, jobs, #jids, tracked) ..
      ',"expired":' .. cjson.encode(expired) .. '}'
  end
  verb = string.lower(verb)
  if not jid then error('Track(): Arg "jid" missing') end
  if call('exists', Keys.job .. jid) == 0 and not (verb == 'untrack' and call('zscore', Keys.tracked, jid)) then
    error('Track(): Job does not exist')
  end
  if verb == 'track' then
    local new = call('zadd', Keys.tracked, t, jid)
    call('publish', Keys.on_track, jid)
    return tostring(new)
  elseif verb == 'untrack' then
    local gone = call('zrem', Keys.tracked, jid)
    call('publish', Keys.on_untrack, jid)
    return tostring(gone)
  end
  error('Track(): Unknown action "' .. argv[3] .. '"')
end
