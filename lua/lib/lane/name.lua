-- The lane of a key: the key itself if it begins with a slash, else a lane of the queue.
-- Takes: queue; key
return function(queue, key)
  if string.byte(key) == 47 then return key end
  return queue .. '/' .. key
end
