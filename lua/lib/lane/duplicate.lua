-- Decides by the option `dup` whether an existing job of the lane takes a put that would otherwise create a job.
-- Takes: now; the job as job/put_extended has it; the options given; the defaults of its queue; what the put met:
--   `lane`, `dup`, `last` (the last job of the lane, or nil) and `fields` (of that job, as lane/live reads them)
-- Result: nil if it creates a job; the jid that takes it, and `skipped`, `merged`, or `replaced`, which the caller
--   carries out; or nil, `cycle` and the jids of the cycle, if the job to replace would come to wait for itself
-- Publishes: `skipped` to the channel of the extensions
local Job = Fields('lane/live')

-- Checks the dependencies of a put that replaces a job. A dependency on the replaced job is a cycle in `guard.put`; in
-- `put` it is ignored, and removed from the job's list `pending`.
-- Takes: jid of the replaced job; the job that is put
-- Result: nil; or the jids of the cycle that the dependencies would close
local function replacing_cycle(jid, job)
  local names, pending = {}, {}
  for i = 1, #job.depends do
    if job.depends[i] ~= jid or job.who == 'Guard' then names[#names + 1] = job.depends[i] end
  end
  local path = need('dependency/find_cycle')(jid, names, true)
  -- If the search for a cycle stopped early, without an answer, assume a cycle.
  if path ~= nil then return path or {jid} end
  for i = 1, #job.pending do
    if job.pending[i] ~= jid then pending[#pending + 1] = job.pending[i] end
  end
  job.pending = pending
end

local function has_started(state) return state == 'running' or state == 'failed' end

-- The jid of the earlier job because of which a put is skipped; nil if the put is not skipped.
local function jid_to_keep(now, lane, last, state, starts)
  if last and not (starts and has_started(state)) then return last end
  local ends, name = string.match(redis.call('get', Keys.window .. lane) or '', '^(%S+) (.*)$')
  return ends and (need('value/number')(ends) or 0) > now and name or nil
end

return function(now, job, given, defaults, met)
  local queue, lane, dup, last, other = job.queue, met.lane, met.dup, met.last, met.fields
  local can_take_put = last and not has_started(other[Job.state]) and other[Job.queue] == queue
  if dup == 'skip' then
    local starts = given.starts
    if starts == nil then starts = defaults.starts end
    local name = jid_to_keep(now, lane, last, last and other[Job.state], starts)
    if not name then return nil end
    redis.call('publish', Keys.on_ext, '{"jid":' .. cjson.encode(job.jid) .. ',"event":"skipped","key":' ..
      cjson.encode(lane) .. ',"queue":' .. cjson.encode(queue) .. '}')
    return name, 'skipped'
  elseif dup == 'merge' and can_take_put and other[Job.dup] == 'merge' and other[Job.klass] == job.klass
    and not (job.depends and job.depends[1]) and not given.payloads then
    local setting = job.merge_max
    if setting == nil then setting = redis.pcall('hget', Keys.config, 'merge-max') end
    local rescore, max_payloads = given.rescore or other[Job.rescore], need('merge/max_payloads')(setting)
    if need('merge/add')(last, job.data, given.score, rescore, max_payloads) then return last, 'merged' end
  elseif dup == 'replace' and can_take_put then
    local path = job.depends and job.depends[1] and replacing_cycle(last, job)
    if path then return nil, 'cycle', path end
    return last, 'replaced'
  end
end
