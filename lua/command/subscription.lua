-- Manages the topics of queues. A client of qless-php puts a job with a topic into each queue with a topic that
-- matches. The client itself compares the topics.
-- Takes: queue add|remove|exists topic | queue get | any all
-- Result: as JSON: for `add` the queue, once for each of its topics; for `remove` and `exists` whether the queue had
--   the topic; for `get` the key of its topics in a list; for `all` an object of the queues of each topic. An
--   empty list or object is `{}`
-- Refuses: missing words, other verbs, keys of another type
return function(argv, now, t)
  local encode, queue, verb, topic = cjson.encode, argv[3], argv[4], argv[5]
  if not queue then error('Subscription(): Arg "queue" missing') end
  if verb ~= 'add' and verb ~= 'remove' and verb ~= 'exists' and verb ~= 'get' and verb ~= 'all' then
    error('Subscription(): Arg "command" must be "add", "remove", "exists", "get" or "all"')
  end
  -- Runs a command on a hash. An error names the key.
  local function run(name, key, ...)
    local reply = redis.pcall(name, key, ...)
    if type(reply) == 'table' and reply.err then
      error('Subscription(): ' .. need('value/wrong_type')(reply, false, 'hash', key, name, key, ...))
    end
    return reply
  end
  local key = Keys.topics .. queue
  if verb == 'get' then
    run('hget', key, '')
    return redis.call('exists', key) == 1 and encode({key}) or '{}'
  elseif verb == 'all' then
    local queues, new = need('queue/subscribed')(now, t, run)
    local topics, gone = {}, {}
    for i = 1, #queues do
      local stored = run('hgetall', Keys.topics .. queues[i])
      for k = 1, #stored, 2 do
        local of = topics[stored[k]] or {}
        topics[stored[k]] = of
        -- The name of this field has no meaning. It is a text, so that cjson writes an object and not an array.
        of['q' .. i .. '.' .. k] = stored[k + 1]
      end
      if not stored[1] then gone[#gone + 1] = 'q:' .. queues[i] end
    end
    local in_chunks = need('value/in_chunks')
    if new[1] then in_chunks('hset', Keys.subscriptions, new, 1, #new) end
    if gone[1] then in_chunks('hdel', Keys.subscriptions, gone, 1, #gone) end
    return encode(topics)
  end
  if not topic then error('Subscription(): Arg "topic" missing') end
  if verb == 'exists' then return run('hget', key, topic) and 'true' or 'false' end
  run('hget', Keys.subscriptions, 'since')
  if verb == 'remove' then
    local removed = run('hdel', key, topic) == 1
    if redis.call('exists', key) == 0 then run('hdel', Keys.subscriptions, 'q:' .. queue) end
    return removed and 'true' or 'false'
  end
  run('hset', key, topic, queue)
  run('hset', Keys.subscriptions, 'q:' .. queue, '1')
  local stored, values = run('hgetall', key), {}
  for i = 2, #stored, 2 do values[#values + 1] = stored[i] end
  return encode(values)
end
