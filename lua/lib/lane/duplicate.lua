-- Decides by its `dup` whether another job of the lane takes a put that would create a job.
-- Takes: now queue jid klass data lane dup; the last job of the lane, or nil, and its fields as lane/live reads them;
--   o, x, defaults, who, most as job/put_extended has them
-- Returns: nil if it creates a job; the jid that takes it, and `skipped`, `merged`, or `replaced`, which the caller
--   carries out; or nil, `cycle` and the jids of the cycle, if the job to replace would come to wait for itself
-- Publishes: `skipped` to the channel of the extensions
local Job = Fields('lane/live')

local function started(state) return state == 'running' or state == 'failed' end

-- Returns the jid for which a put is skipped, nil if there is none.
local function known(now, lane, last, state, starts)
  if last and not (starts and started(state)) then return last end
  local ends, name = string.match(redis.call('get', Keys.window .. lane) or '', '^(%S+) (.*)$')
  return ends and (need('value/number')(ends) or 0) > now and name or nil
end

return function(now, queue, jid, klass, data, lane, dup, last, other, o, x, d, who, most)
  local fits = last and not started(other[Job.state]) and other[Job.queue] == queue
  if dup == 'skip' then
    local starts = x.starts
    if starts == nil then starts = d.starts end
    local name = known(now, lane, last, last and other[Job.state], starts)
    if not name then return nil end
    redis.call('publish', Keys.on_ext, '{"jid":' .. cjson.encode(jid) .. ',"event":"skipped","key":' ..
      cjson.encode(lane) .. ',"queue":' .. cjson.encode(queue) .. '}')
    return name, 'skipped'
  elseif dup == 'merge' and fits and other[Job.dup] == 'merge' and other[Job.klass] == klass
    and not (o.depends and o.depends[1]) and not x.payloads then
    if most == nil then most = redis.pcall('hget', Keys.config, 'merge-max') end
    local rescore = x.rescore or other[Job.rescore]
    if need('merge/add')(last, data, x.score, rescore, need('merge/most')(most)) then return last, 'merged' end
  elseif dup == 'replace' and fits then
    local path = o.depends and o.depends[1] and need('lane/replace_depends')(last, o, who)
    if path then return nil, 'cycle', path end
    return last, 'replaced'
  end
end
