-- A table with the text of each number that was looked up in it: formatting a number again would cost more.
return function()
  return setmetatable({}, {__index = function(texts, number)
    texts[number] = '' .. number
    return texts[number]
  end})
end
