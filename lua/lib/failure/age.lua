-- How many seconds failed jobs are kept before they are deleted, nil if they are kept for ever.
-- Takes: the stored setting `jobs-failed-history`
-- Result: the seconds, or nil; an error if the setting needs the list of failure times and its key has a wrong type
return function(setting)
  local age = need('value/number')(setting)
  if not age or age < 0 then age = php and need('value/defaults')()['jobs-failed-history'] or nil end
  local held = age and redis.pcall('zcard', Keys.failed_times)
  if type(held) == 'table' then
    return nil, need('value/wrong_type')(held, false, 'zset', Keys.failed_times, 'zcard', Keys.failed_times)
  end
  return age
end
