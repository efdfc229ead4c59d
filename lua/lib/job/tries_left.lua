-- The number of retries that remain to a job after the run that ends now: below 0 if that run was the last one.
-- Takes: its stored `remaining` and `retries`
return function(remaining, retries)
  local left = tonumber(remaining) or tonumber(retries) or 0
  if left - left ~= 0 then left = 0 end
  return (left < 9e15 and left > -9e15 and math.floor(left) or need('value/whole_tries')(left)) - 1
end
