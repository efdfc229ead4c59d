-- recur.get: jid
-- Answers a template as JSON, nil if there is none.
return function(argv)
  local jid = argv[3]
  if not jid then error('Recurring(): no jid provided') end
  local r = redis.call('hmget', Keys.recurring .. jid, 'jid', 'klass', 'queue', 'priority', 'interval', 'retries',
    'count', 'data', 'tags', 'backlog')
  if not r[1] then return nil end
  local function number(text)
    local n = tonumber(text)
    return n and n - n == 0 and n or 0
  end
  return cjson.encode({
    jid = jid,
    klass = r[2],
    state = 'recur',
    queue = r[3],
    priority = number(r[4]),
    interval = number(r[5]),
    retries = number(r[6]),
    count = number(r[7]),
    data = r[8],
    tags = need('job/tags')(r[9]),
    backlog = number(r[10]),
  })
end, true
