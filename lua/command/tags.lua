-- The names of tags as a JSON array, the most used ones first; `{}` if there are none.
-- Takes: [offset [count]]
-- Refuses: an offset or count that is not a number
return function(argv)
  local from, limit = tonumber(argv[3] or 0), tonumber(argv[4] or 25)
  if not from then error('Tags(): Arg "offset" not a number: ' .. argv[3]) end
  if not limit then error('Tags(): Arg "count" not a number: ' .. argv[4]) end
  return cjson.encode(redis.call('zrevrangebyscore', Keys.tags, '+inf', '(0', 'LIMIT', from, limit))
end, true
