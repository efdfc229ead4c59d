-- The limits of what one call brings to work, so that it does not hold up the server; the next call goes on. The
-- functions of the call reduce it: `children` are runs of templates, `tags` the entries of their tags, `due` jobs of
-- the schedule, `lost` expired locks.
return function() return {children = 1000, tags = 20000, due = 5000, lost = 5000} end
