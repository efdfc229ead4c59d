-- Begins a dry run: from now on, what the call builds with `need` sees its own writes, and the server gets none.
return function() redis = need('dry_run/server')() end
