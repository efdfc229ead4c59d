-- Returns the throttles of a job: the given ones, else its own, else those of the queue's defaults; with its lock.
-- Takes: given options; the stored list as text, or false; defaults or nil; queue klass data
-- Returns: the ids, nil if there is nothing to store; by id, the maximum that the defaults give it
return function(x, own, d, queue, klass, data)
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
  -- With a blank, the list says only that none was given.
  local stored = own and own ~= '[ ]' and need('job/tags')(own) or nil
  if not x.throttles and not x.lock and stored then return nil, maxima end
  if x.throttles then
    for i = 1, #x.throttles do add(x.throttles[i]) end
  elseif stored then
    -- A new lock replaces the old one.
    for i = 1, #stored do
      if string.sub(stored[i], 1, 5) ~= 'lock:' then add(stored[i]) end
    end
  elseif d and d.throttles then
    for i = 1, #d.throttles do
      local id = expand(d.throttles[i], queue, klass, data)
      if id and not need('throttle/reserved')(id) then
        maxima[id] = d.maxima[d.throttles[i]]
        add(id)
      end
    end
  end
  if x.lock then
    add(lock(x.lock))
  elseif d and d.lock and not stored and not (x.throttles and not x.throttles[1]) then
    add(lock(d.lock, true))
  end
  if not list[1] and not x.throttles and not x.lock then return nil, maxima end
  return list, maxima
end
