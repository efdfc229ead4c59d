-- The table of what is expected of a job in each state: which set of its queue holds it, and no other.
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
