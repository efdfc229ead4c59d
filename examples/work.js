// A worker in JavaScript: qless work thumbs --persistent --in-flight 20 -- node examples/work.js
const fs = require("node:fs");
const readline = require("node:readline");
const { setTimeout: sleep } = require("node:timers/promises");

const descriptor = Number(process.env.QLESS_RESULT_FD);
const running = new Map();

async function work(data, signal) {
  await sleep(1000 * (data.seconds ?? 0), null, { signal });
  if (data.fail) return { result: "fail", group: "picture", message: "the file is broken" };
  if (data.retry) return { result: "retry", delay: "1s" };
  return { result: "complete", data: { ...data, by: "node" } };
}

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const job = JSON.parse(line);
  // The work of a cancelled job ends. Its answer, whatever it is, makes room for another job.
  if (job.cancel) return running.get(job.jid)?.abort();
  const abort = new AbortController();
  running.set(job.jid, abort);
  const failed = (error) => ({ result: "retry", message: error.message });
  const answer = await work(job.data, abort.signal).catch(failed);
  running.delete(job.jid);
  fs.writeSync(descriptor, JSON.stringify({ jid: job.jid, ...answer }) + "\n");
});
