-- Returns a row of a reply: outcome, mark, and the details, of which the last may be a list.
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
