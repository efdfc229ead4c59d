-- Reads a back-off policy: `fixed:S`, `linear:S`, `exp:S[:F[:MAX[:JITTER]]]` or `lowkiq[:MAX]`, in seconds.
-- Takes: text
-- Result: the kind and its numbers in a list; nil if the text is no policy
return function(text)
  local kind, rest = string.match(text, '^(%l+)(.*)$')
  local max_numbers = kind == 'fixed' and 1 or kind == 'linear' and 1 or kind == 'exp' and 4 or kind == 'lowkiq' and 1
  if not max_numbers then return nil end
  local numbers = {}
  while rest ~= '' do
    local part, after = string.match(rest, '^:([%d.eE+]+)(.*)$')
    local n = part and tonumber(part)
    if not n or n - n ~= 0 or #numbers == max_numbers then return nil end
    numbers[#numbers + 1], rest = n, after
  end
  if kind ~= 'lowkiq' and not numbers[1] then return nil end
  -- Refuse a factor or maximum of 0, which would make every delay 0. Refuse a jitter above 1, because it is a
  -- fraction.
  if kind == 'exp' and (numbers[2] == 0 or numbers[3] == 0 or (numbers[4] or 0) > 1) then return nil end
  if kind == 'lowkiq' and numbers[1] == 0 then return nil end
  return kind, numbers
end
