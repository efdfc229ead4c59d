-- Whether a job may run as the first of its lane: no live job is before it. Writes nothing.
-- Takes: lane; jid
return function(lane, jid)
  local key, live, from = Keys.lane .. lane, need('lane/live'), 0
  while true do
    local page = redis.pcall('zrange', key, from, from + 19)
    -- Treat a job as the first if its lane's key has another type: a damaged lane must not stop the queue.
    if page.err or not page[1] then return true end
    for i = 1, #page do
      if page[i] == jid then return true end
      if live(lane, page[i]) then return false end
    end
    from = from + #page
  end
end
