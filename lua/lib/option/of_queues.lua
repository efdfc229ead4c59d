-- Reads the stored defaults of the queues into which a call puts jobs.
-- Takes: jobs (job/put_args)
-- Result: by queue, the stored `<queue>-defaults`, or false
return function(jobs)
  local defaults, names, fields = {}, {}, {}
  for i = 1, #jobs do
    local queue = jobs[i].queue
    if defaults[queue] == nil then
      defaults[queue], names[#names + 1] = false, queue
      fields[#fields + 1] = queue .. '-defaults'
    end
  end
  local stored = fields[1] and redis.pcall('hmget', Keys.config, unpack(fields)) or {}
  for i = 1, #names do defaults[names[i]] = stored[i] or false end
  return defaults
end
