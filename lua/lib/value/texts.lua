-- The texts of numbers, by number: printing a number costs more than looking up one that came before.
return function()
  return setmetatable({}, {__index = function(texts, number)
    texts[number] = '' .. number
    return texts[number]
  end})
end
