-- Makes one row of a reply: outcome, mark and details. The last detail may be a list.
-- Takes: outcome mark detail ...
return function(word, mark, ...)
  local row = {word, mark}
  for i = 1, select('#', ...) do
    local detail = select(i, ...)
    if type(detail) == 'table' then
      for k = 1, #detail do row[#row + 1] = detail[k] end
    else
      row[#row + 1] = detail
    end
  end
  return row
end
