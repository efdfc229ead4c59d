-- Decodes a document so that each number becomes a text of its digits. A decoded number would have only 14 digits, so
-- two jobs whose numbers differ only in later digits would get one lane, lock or throttle.
-- Takes: JSON that cjson decodes
-- Result: the decoded document
return function(text)
  local quoted, at = {}, 1
  local function quote(word)
    if word ~= 'true' and word ~= 'false' and word ~= 'null' then return '"' .. word .. '"' end
  end
  while true do
    -- Outside strings, each word is a number, `true`, `false` or `null`: quote the numbers.
    local from = string.find(text, '"', at, true)
    quoted[#quoted + 1] = string.gsub(string.sub(text, at, (from or 0) - 1), '[%w.+-]+', quote)
    if not from then return cjson.decode(table.concat(quoted)) end
    local to = from
    repeat
      to = string.find(text, '["\\]', to + 1)
      -- Skip the character after a backslash: it does not end the string.
      local escape = string.sub(text, to, to) == '\\'
      if escape then to = to + 1 end
    until not escape
    quoted[#quoted + 1], at = string.sub(text, from, to), to + 1
  end
end
