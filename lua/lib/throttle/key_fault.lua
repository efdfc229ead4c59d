-- Checks the types of the keys to which a put writes a job that one of its throttles holds back.
-- Takes: the function of value/key_fault; queue; stored list of ids
-- Result: nil, or what is wrong
return function(key_fault, queue, stored)
  local keys = {'zset', Keys.queue .. queue .. Keys.throttled}
  for _, id in ipairs(need('job/tags')(stored)) do
    keys[#keys + 1], keys[#keys + 2] = 'zset', Keys.throttle .. id .. Keys.pending
  end
  return key_fault(unpack(keys))
end
