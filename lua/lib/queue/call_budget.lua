-- The limits of what one call moves to work, so that it does not block the server for long. The next call
-- continues. The functions of the call subtract what they do: `children` counts runs of templates, `tags` the tags
-- of the jobs that these make, `due` jobs of the schedule, `lost` expired locks.
return function() return {children = 1000, tags = 20000, due = 5000, lost = 5000} end
