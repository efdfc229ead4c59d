-- Tags: the index `ql:t:<tag>` and the counters `ql:tags`, which count only real changes.
local call = redis.call
local Tags = {}

-- Returns the tags a stored text stands for, as texts. What does not parse is no tag.
function Tags.read(text)
  local tags = {}
  if not text or text == '{}' then return tags end
  local ok, list = pcall(cjson.decode, text)
  if not ok or type(list) ~= 'table' then return tags end
  for _, tag in ipairs(list) do
    if type(tag) == 'string' or type(tag) == 'number' then tags[#tags + 1] = tostring(tag) end
  end
  return tags
end

-- Enters a job under a tag; a job that has it already gets the newer time.
function Tags.add(t, jid, tag)
  if call('zadd', Keys.tag .. tag, t, jid) == 1 then call('zincrby', Keys.tags, 1, tag) end
end

-- Takes a job out from under a tag.
function Tags.drop(jid, tag)
  if call('zrem', Keys.tag .. tag, jid) == 1 and tonumber(call('zincrby', Keys.tags, -1, tag)) <= 0 then
    call('zrem', Keys.tags, tag)
  end
end

-- Takes a job out from under all tags of a stored text.
function Tags.drop_all(jid, text)
  if not text or text == '{}' then return end
  local tags = Tags.read(text)
  for i = 1, #tags do Tags.drop(jid, tags[i]) end
end

return Tags
