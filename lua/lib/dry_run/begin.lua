-- Begins a dry run: functions that `need` builds from now on see the writes of this call, but the server gets none.
return function() redis = need('dry_run/server')() end
