-- Reads the settings that the puts of a call need.
-- Takes: jobs (job/put_args)
-- Returns: by queue, the stored `<queue>-defaults` and `merge-max`
return function(jobs)
  local settings, names, fields = {}, {}, {'merge-max'}
  for i = 1, #jobs do
    local queue = jobs[i].queue
    if not settings[queue] then
      settings[queue], names[#names + 1] = {}, queue
      fields[#fields + 1] = queue .. '-defaults'
    end
  end
  local stored = redis.pcall('hmget', Keys.config, unpack(fields))
  for i = 1, #names do settings[names[i]] = {stored[i + 1], stored[1]} end
  return settings
end
