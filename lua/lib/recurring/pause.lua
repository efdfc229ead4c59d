-- Pauses a template: moves it into a document that other clients do not read, so that they make no jobs from it.
-- The document has its fields in their order, and its next run as text, so that the time is not rounded.
-- Takes: jid; since when, as text; the fields `by` and `reason`
return function(jid, since, about)
  local call, key = redis.call, Keys.recurring .. jid
  local fields = call('hgetall', key)
  local set = Keys.queue .. (call('hget', key, 'queue') or '') .. Keys.recur
  local document = {
    since = since,
    by = type(about.by) == 'string' and about.by or nil,
    reason = type(about.reason) == 'string' and about.reason or nil,
    next = call('zscore', set, jid) or nil,
    fields = fields,
  }
  call('hset', Keys.paused_recurring, jid, cjson.encode(document))
  call('zrem', set, jid)
  call('del', key)
end
