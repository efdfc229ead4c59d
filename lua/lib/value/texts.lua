-- A cache of the texts of numbers: a lookup formats a number only once.
return function()
  return setmetatable({}, {__index = function(texts, number)
    texts[number] = '' .. number
    return texts[number]
  end})
end
