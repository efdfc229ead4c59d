-- The members of a list that are not in a set.
-- Takes: list; set
return function(list, set)
  local left = {}
  for i = 1, #list do
    if not set[list[i]] then left[#left + 1] = list[i] end
  end
  return left
end
