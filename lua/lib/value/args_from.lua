-- Returns the words of a call from place `first` on as a list.
return function(argv, first)
  local words = {}
  for i = first, #argv do words[i - first + 1] = argv[i] end
  return words
end
