-- Adds functions to the context of a check that note findings. While an item is checked, its changes are only
-- collected. Then `flush` writes them.

-- The changes with additions first: a server without memory then refuses an addition before anything is removed.
local function ordered(changes)
  if not changes[2] then return changes end
  local list = {}
  for i = 1, #changes do
    if changes[i][3] and changes[i][5] then list[#list + 1] = changes[i] end
  end
  for i = 1, #changes do
    if not (changes[i][3] and changes[i][5]) then list[#list + 1] = changes[i] end
  end
  return list
end

return function(check)
  local noted, write, rows, known = {}, nil, check.rows, need('repair/outcomes')()
  local out, only, outcomes = check.out, check.only, {}

  -- What a repair does with a finding, as in repair/outcomes: `found`, `decide` or `report`. If the caller named the
  -- id, `decide` becomes `found`. Nil if the caller did not ask for the finding.
  function check.outcome(id, case)
    if out[id] or only and not only[id] then return nil end
    local name = case and id .. ' ' .. case or id
    if outcomes[name] then return outcomes[name] end
    local _, at = string.find(known, "['" .. name .. "'] = '", 1, true)
    local word = string.match(known, '^%l+', at + 1)
    if word == 'decide' and only then word = 'found' end
    outcomes[name] = word
    return word
  end

  -- Notes a finding, unless an equal one was noted. Each of `changes` is the kind of a key, the key, an item in it, and
  -- the item's values before and after, false if it does not exist.
  function check.add(id, item, detail, changes, case)
    local word = check.outcome(id, case)
    if not word then return end
    local name = id .. '\n' .. item .. '\n' .. detail
    if noted[name] then return end
    noted[name] = true
    changes = changes or {}
    if word ~= 'report' and not changes[1] then word = 'report' end
    check.pending[#check.pending + 1] = {{id, item, word, detail}, word == 'report' and {} or ordered(changes)}
  end

  function check.wrong_type(key, kind) check.need('key/wrong_type')(key, kind) end

  -- Writes changes. Returns those that were still needed. Raises an error if the server refuses one. If this call
  -- has written before, returns nil instead, and the call writes nothing more.
  function check.write(changes, first)
    write = write or need('repair/write')()
    local made = write(changes, check.wrote, first)
    check.wrote = check.wrote or made ~= nil and made[1] ~= nil
    check.refused = check.refused or not made
    return made
  end

  -- Adds a finding to the reply.
  function check.report(row, changes)
    for i = 1, #changes do
      local change = changes[i]
      row[i + 4] = {change[2], change[3] or false, change[4] or false, change[5] or false}
      if change[1] == 'list' then check.relisted = check.relisted + 1 end
    end
    rows[#rows + 1] = row
  end

  -- Adds the noted findings to the reply. In a repair, first writes their changes. The outcome is then `mended`, or
  -- stays `found` if the server refuses a change.
  function check.flush()
    local pending = check.pending
    for i = 1, #pending do
      local row, changes = pending[i][1], pending[i][2]
      if check.repair and row[3] == 'found' and not check.refused then
        local made = check.write(changes, i == 1)
        if made then row[3], changes = 'mended', made end
      end
      check.report(row, changes)
    end
    check.pending = {}
  end
end
