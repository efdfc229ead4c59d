# A worker in Ruby: qless work thumbs --persistent --in-flight 4 -- ruby examples/work.rb
# A thread runs each job; the main thread reads further jobs, and the lines of cancelled jobs.
require "json"

answers = IO.for_fd(Integer(ENV.fetch("QLESS_RESULT_FD")), "w")
answers.sync = true
Thread.report_on_exception = false

work = lambda do |data|
  sleep data.fetch("seconds", 0)
  next { result: "fail", group: "picture", message: "the file is broken" } if data["fail"]
  next { result: "retry", delay: "1s" } if data["retry"]

  { result: "complete", data: data.merge(by: "ruby") }
end

running = {}
$stdin.each_line do |line|
  job = JSON.parse(line)
  jid = job["jid"]
  # The thread of a cancelled job ends. Its answer, whatever it is, makes room for another job.
  next running[jid]&.raise("cancelled") if job["cancel"]

  running[jid] = Thread.new do
    answer = begin work.call(job["data"]) rescue { result: "retry", message: $!.message } end
    running.delete(jid)
    answers.write(JSON.generate({ jid: jid, **answer }) + "\n")
  end
end
running.each_value.to_a.each(&:join)
