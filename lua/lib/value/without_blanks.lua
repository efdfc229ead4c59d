-- The texts of a list that contain more than blanks.
-- Takes: list
return function(list)
  local texts = {}
  for i = 1, #list do
    if string.find(list[i], '%S') then texts[#texts + 1] = list[i] end
  end
  return texts
end
