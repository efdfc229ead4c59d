-- How many entries a history keeps: the setting `max-job-history`, 100 if it is not a number.
return function()
  return tonumber(redis.pcall('hget', Keys.config, 'max-job-history') or 100) or 100
end
