-- Returns the words of a call from place `first` on as a list.
return function(argv, first)
  local args = {}
  for i = first, #argv do args[i - first + 1] = argv[i] end
  return args
end
