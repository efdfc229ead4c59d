-- Returns a function that carries out the changes of a finding and returns those that were needed,
-- with what the places really held. What the server refuses undoes all that this call has written.
return function()
  local put, place, done = need('check_put'), need('check_place'), {}

  -- Returns the change as it has to be made now, nil if there is nothing to do.
  local function needed(change)
    local kind, key, item, before, after = unpack(change)
    if kind == 'move' then
      if redis.call('exists', key) == 0 then return nil end
      local free, n = after, 1
      while redis.call('exists', free) == 1 do
        n = n + 1
        free = after .. ':' .. n
      end
      return {kind, key, item, before, free}
    end
    if kind == 'expiry' or kind == 'delete' then return change end
    local held = place(kind, key, item)
    if held == nil then return nil end
    if kind == 'list' then
      if before and held ~= before then return nil end
      return change
    end
    if held == after or kind == 'zset' and held and after and tonumber(held) == tonumber(after) then return nil end
    return {kind, key, item, held, after}
  end

  return function(changes)
    local made = {}
    for i = 1, #changes do
      local change = needed(changes[i])
      if change then
        local ok, refusal = pcall(put, unpack(change))
        if not ok then
          for k = #done, 1, -1 do
            local kind, key, item, before, after = unpack(done[k])
            if kind == 'move' then
              pcall(put, kind, after, false, false, key)
            elseif item then
              pcall(put, kind, key, item, after, before)
            end
          end
          error(refusal, 0)
        end
        done[#done + 1], made[#made + 1] = change, change
      end
    end
    return made
  end
end
