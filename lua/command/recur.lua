-- Creates or replaces a template. A replaced template keeps its counter of jobs.
-- Takes: queue jid klass data interval seconds offset [tags json] [priority p] [retries n] [backlog n], and the options
--   of put for throttles, lanes, merging, uniqueness and back-off
-- Result: the jid
-- Refuses: missing or wrong words, an interval of 0 or less, more than 1000 tags
return function(argv, now, t)
  local call = redis.call
  local queue, jid, klass, data, spec = argv[3], argv[4], argv[5], argv[6], argv[7]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('RecurringJob On(): Arg "jid" missing') end
  if not klass then error('RecurringJob On(): Arg "klass" missing') end
  if not spec then error('RecurringJob On(): Arg "spec" missing') end
  if not data or cjson.decode(data) == false then
    error('RecurringJob On(): Arg "data" not JSON: ' .. tostring(data))
  end
  if spec ~= 'interval' then error('Recur(): schedule type "' .. spec .. '" unknown') end
  local number = need('value/number')
  local interval, offset = number(argv[8]), number(argv[9])
  if not interval then error('Recur(): Arg "interval" not a number: ' .. tostring(argv[8])) end
  if not offset then error('Recur(): Arg "offset" not a number: ' .. tostring(argv[9])) end
  if interval <= 0 then error('Recur(): Arg "interval" must be greater than 0') end
  local given = {}
  if #argv % 2 == 0 then error('Odd number of additional args: ' .. tostring(given)) end
  for i = 10, #argv, 2 do given[argv[i]] = argv[i + 1] end
  local tags = {}
  if given.tags then
    tags = need('value/names')(given.tags, 'all', 1000)
    if not tags then error('Recur(): Arg "tags" must be JSON string array: ' .. given.tags) end
    need('job/refuse_too_many_tags')('Recur', #tags)
    if php then tags = need('value/without_blanks')(tags) end
  end
  local priority, retries = number(given.priority or 0), number(given.retries or 0)
  local backlog = number(given.backlog or 0)
  if not priority then error('Recur(): Arg "priority" not a number: ' .. given.priority) end
  if not retries then error('Recur(): Arg "retries" not a number: ' .. given.retries) end
  if not backlog then error('Recur(): Arg "backlog" not a number: ' .. given.backlog) end
  local opts = need('option/given')(given) and need('option/stored')(given, {}, 'Recur')
  local key = Keys.recurring .. jid
  local old = call('hmget', key, 'queue', 'count', 'opts')
  if old[1] then call('zrem', Keys.queue .. old[1] .. Keys.recur, jid) end
  call('hmset', key, 'jid', jid, 'klass', klass, 'data', data, 'priority', priority, 'tags', cjson.encode(tags),
    'state', 'recur', 'queue', queue, 'type', 'interval', 'count', old[2] or 0, 'interval', interval,
    'retries', retries, 'backlog', backlog)
  if opts then call('hset', key, 'opts', opts) elseif old[3] then call('hdel', key, 'opts') end
  call('zadd', Keys.queue .. queue .. Keys.recur, now + offset, jid)
  call('zadd', Keys.queues, 'NX', t, queue)
  return jid
end
