-- Finds a held job that the next pop of its queue may return. Writes nothing: a slot that the pop would drop counts as
-- free.
-- Takes: now; queue
-- Returns: its jid, nil if there is none
local Job = Fields('state', 'queue', 'throttles')

return function(now, queue)
  local pcall, free = redis.pcall, {}
  local grace = need('value/number')(pcall('hget', Keys.config, 'grace-period')) or 10
  local decode, judge = need('job/tags'), need('throttle/holder')
  local function is_free(id, jid)
    if free[id] == nil then
      local locks, most = Keys.throttle .. id .. Keys.locks, need('throttle/maximum')(id)
      local held = most ~= 0 and pcall('zcard', locks)
      local count = type(held) == 'number' and most - held or math.huge
      for _, holder in ipairs(count <= 0 and pcall('zrange', locks, 0, 2) or {}) do
        if judge(now, id, holder, queue, grace) then count = count + 1 end
      end
      free[id] = count > 0
    end
    return free[id] or type(pcall('zscore', Keys.throttle .. id .. Keys.locks, jid)) == 'string'
  end
  local page = need('throttle/held_page')(now, queue)
  for i = 1, #page, 2 do
    local jid = page[i]
    local job = pcall('hmget', Keys.job .. jid, unpack(Job))
    local runs = job[Job.state] == 'throttled' and job[Job.queue] == queue
    if runs then
      for _, id in ipairs(decode(job[Job.throttles])) do runs = runs and is_free(id, jid) end
    end
    if runs then return jid end
  end
end
