-- The throttles of a job: the given ones, else the stored ones, else the defaults of the queue. A lock is one of them.
-- Takes: given options; the stored list as text, or false; defaults or nil; queue klass data
-- Result: the ids, nil if there is nothing to store; by id, the maximum that the defaults give it
return function(given, own, defaults, queue, klass, data)
  local expand, list, seen, maxima = need('option/expand'), {}, {}, {}
  local function add(id)
    if id and not seen[id] then
      seen[id] = true
      list[#list + 1] = id
    end
  end
  local function lock(text, template)
    if text == '*' then return 'lock:' .. klass .. ':' .. redis.sha1hex(data) end
    if template then text = expand(text, queue, klass, data) end
    return text and text ~= '' and 'lock:' .. (#text > 128 and redis.sha1hex(text) or text) or nil
  end
  -- A stored `[ ]`, with a blank, means that no put gave throttles, so that the defaults of the queue apply.
  local stored = own and own ~= '[ ]' and need('job/tags')(own) or nil
  if not given.throttles and not given.lock and stored then return nil, maxima end
  if given.throttles then
    for i = 1, #given.throttles do add(given.throttles[i]) end
  elseif stored then
    -- A new lock replaces the old one.
    for i = 1, #stored do
      if string.sub(stored[i], 1, 5) ~= 'lock:' then add(stored[i]) end
    end
  elseif defaults and defaults.throttles then
    for i = 1, #defaults.throttles do
      local id = expand(defaults.throttles[i], queue, klass, data)
      if id and not need('throttle/reserved')(id) then
        maxima[id] = defaults.maxima[defaults.throttles[i]]
        add(id)
      end
    end
  end
  if given.lock then
    add(lock(given.lock))
  elseif defaults and defaults.lock and not stored and not (given.throttles and not given.throttles[1]) then
    add(lock(defaults.lock, true))
  end
  if not list[1] and not given.throttles and not given.lock then return nil, maxima end
  return list, maxima
end
