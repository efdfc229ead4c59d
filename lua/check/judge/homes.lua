-- Which set of its queue must hold a job, by the state of the job. No other of these sets may hold the job.
-- `build.rs` reads these lines for the scan.
-- Result: the sets by state; false for a state whose jobs are in none
return function()
  return {
    waiting = Keys.work,
    stalled = Keys.work,
    running = Keys.locks,
    scheduled = Keys.scheduled,
    depends = Keys.depends,
    throttled = Keys.throttled,
    failed = false,
    complete = false,
  }
end
