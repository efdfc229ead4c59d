//! The server side of a worker: a thread that makes its calls, one after the other, so that the worker
//! can end processes while the server does not reply.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use super::machine::event::{Event, FinishAndPopRequest, ServerRequest};
use super::monitor::WorkMonitor;
use super::process::Waker;
use super::queues::{self, MAX_QUEUES, WorkerQueues};
use crate::address::Node;
use crate::clock::moment::Moment;
use crate::core::api::epoch::LossFreeEpoch;
use crate::core::api::finish_and_pop::FinishAndPopReply;
use crate::core::api::index::{Index, IndexReader};
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::model::ending::EndingRequest;
use crate::model::job::{Neighbor, State};
use crate::model::queue::{JobsLeftInQueue, LocksOfOtherWorkers, Queue, ReadyQueues};
use crate::model::work::PoppedJob;
use crate::name::Name;
use crate::session::actor;
use crate::threads;

/// Minimum number of queues of a call, if more queues may have jobs than one call can pop from.
const FIRST_QUEUES: usize = 32;

/// How long a worker that ends waits until its name is off the list of workers.
const LEAVING: Duration = Duration::from_secs(1);

/// Maximum number of jobs that one call reads to find out what is left.
const JOBS_PER_READ: u64 = 500;

/// A job that becomes due within this time, in seconds, counts as due immediately.
const AT_ONCE: f64 = 0.01;

/// A reply of the server, with the server's time when it replied.
pub(super) struct TimestampedReply {
    /// Whether another server sent this reply than the last one, such as after a failover, or the server has restarted.
    /// The last changes may be lost then.
    pub is_successor: bool,
    pub event: Event,
    pub now: Moment,
    /// By how many seconds the server's clock may be ahead of `now`.
    pub max_lag: f64,
}

/// The thread and its mailboxes.
pub(super) struct ServerThread {
    orders: Sender<ServerRequest>,
    replies: Receiver<TimestampedReply>,
}

impl ServerThread {
    pub(super) fn start(
        core: Core,
        worker: Name,
        queues: WorkerQueues,
        monitor: Option<Arc<WorkMonitor>>,
        waker: Waker,
    ) -> Result<ServerThread, Error> {
        let (orders, inbox) = channel();
        let (outbox, replies) = channel();
        let mut calls = ServerCaller {
            finish_and_pop_at: core.now(),
            core,
            worker,
            queues,
            epoch: None,
            node: None,
            connection: 0,
        };
        calls.core.make_calls_in_caller_thread();
        // A call must not wait for a new connection: the machine repeats the request by itself.
        calls.core.stop_waiting_for_lost_server();
        threads::spawn(move || {
            while let Ok(order) = inbox.recv() {
                let event = calls.perform_request(order);
                if let Some(monitor) = &monitor {
                    monitor.note_ended_call(matches!(event, Some(Event::FinishAndPop(Ok(_)))));
                }
                let Some(event) = event else {
                    continue;
                };
                let is_successor = calls.has_server_changed();
                let clock = calls.core.clock();
                let reply = TimestampedReply {
                    is_successor,
                    event,
                    now: clock.now(),
                    max_lag: clock.max_lag(),
                };
                if outbox.send(reply).is_err() {
                    return;
                }
                waker.wake();
            }
        })?;
        Ok(ServerThread { orders, replies })
    }

    pub(super) fn send_request(&self, order: ServerRequest) -> Result<(), Error> {
        let ended = |_| Error::internal("the thread of the calls has ended");
        self.orders.send(order).map_err(ended)
    }

    /// Removes the worker from the list of workers, unless it holds jobs. If no reply comes in time, the worker
    /// stays in the list.
    pub(super) fn deregister_worker_if_jobless(self) {
        _ = self.orders.send(ServerRequest::Leave);
        drop(self.orders);
        let end = Instant::now() + LEAVING;
        let left = || end.saturating_duration_since(Instant::now());
        // The thread ends after this last order. Wait for that, and drop its late replies.
        while self.replies.recv_timeout(left()).is_ok() {}
    }

    /// The next reply. `None` if there is none yet.
    pub(super) fn next_reply(&self) -> Result<Option<TimestampedReply>, Error> {
        match self.replies.try_recv() {
            Ok(reply) => Ok(Some(reply)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                Err(Error::internal("the thread of the calls has ended"))
            }
        }
    }
}

/// The calls of a worker.
struct ServerCaller {
    core: Core,
    worker: Name,
    queues: WorkerQueues,
    /// The time of the last finish-and-pop call. If its reply is lost, this time shows which endings it has written.
    finish_and_pop_at: Moment,
    /// The identity of the server that replied last, if the server reports one, and its node in a cluster.
    epoch: Option<LossFreeEpoch>,
    node: Option<Node>,
    /// The number of the connection on which the identity of the server was last read.
    connection: u64,
}

impl ServerCaller {
    /// Whether, after a reconnect, another server replies, or the server has restarted. In a cluster, a hash slot that
    /// moved to another node does not count: its keys moved with it.
    fn has_server_changed(&mut self) -> bool {
        if self.core.connection_number() == self.connection {
            return false;
        }
        // If the server does not reply, its identity is read after the next call.
        let Ok(Some(present)) = self.core.current_loss_free_epoch() else {
            return false;
        };
        self.connection = self.core.connection_number();
        let node = std::mem::replace(&mut self.node, self.core.last_connected_cluster_node());
        let begun = self.epoch.replace(present.clone());
        begun.is_some_and(|begun| {
            begun.run_id != present.run_id
                && (node == self.node || begun.may_have_failed_over_to(&present))
        })
    }

    fn perform_request(&mut self, request: ServerRequest) -> Option<Event> {
        let now = self.core.now();
        Some(match request {
            ServerRequest::FinishAndPop(request) => {
                Event::FinishAndPop(self.finish_and_pop(request))
            }
            ServerRequest::Recover { endings, known } => {
                Event::Recovered(self.recover(now, &endings, &known))
            }
            ServerRequest::FindReadyQueues => Event::ReadyQueues(self.find_ready_queues(now)),
            ServerRequest::Extend(jids) => {
                let reply = self.core.extend_locks(now, &self.worker, &jids);
                Event::Extended(reply)
            }
            ServerRequest::Release(jids) => {
                let note = actor::history_note("work", None);
                let released = self.core.release_jobs(now, &self.worker, &jids, &note);
                Event::Released(released)
            }
            ServerRequest::Log { jid, text } => {
                // A failure is ignored: an entry about progress is not worth a second call.
                _ = self.core.append_to_history(now, &jid, &text, None);
                return None;
            }
            // If the queues cannot be read, the worker keeps the ones that it has.
            ServerRequest::FindQueues => {
                self.queues.find_again(&mut self.core).ok()?;
                Event::Queues(self.queues.found.clone())
            }
            ServerRequest::Leave => {
                self.core
                    .limit_calls_until(Instant::now().checked_add(LEAVING));
                let held = self
                    .core
                    .index_members(now, &Index::Worker(self.worker.clone()));
                if held.is_ok_and(|held| held.is_empty()) {
                    // A failure is ignored: the core forgets a worker that stays in the list after `max-worker-age`.
                    _ = self.core.deregister_worker(now, &self.worker);
                }
                return None;
            }
        })
    }

    /// The outcomes of the endings of a finish-and-pop call whose reply was lost, and the jobs that it popped.
    fn recover(
        &mut self,
        now: Moment,
        endings: &[EndingRequest],
        known: &[Name],
    ) -> Result<FinishAndPopReply, Error> {
        let at = self.finish_and_pop_at;
        let known: HashSet<&Name> = known.iter().collect();
        let endings = self.core.finish_jobs(at, &self.worker, endings, true)?;
        let jobs = self
            .core
            .recover_jobs_of_lost_pop(now, &self.worker, |jid| known.contains(jid))?;
        Ok(FinishAndPopReply {
            endings,
            jobs,
            ..FinishAndPopReply::default()
        })
    }

    fn finish_and_pop(&mut self, request: FinishAndPopRequest) -> Result<FinishAndPopReply, Error> {
        let total = request.total;
        let mut queues = self
            .queues
            .pop_order_and_limits(&mut self.core, total, request.queues);
        if queues.len() > MAX_QUEUES {
            queues.truncate((2 * total as usize).clamp(FIRST_QUEUES, MAX_QUEUES));
        }
        let now = self.core.now();
        self.finish_and_pop_at = now;
        let mut reply =
            self.core
                .finish_and_pop(now, &self.worker, total, &queues, &request.endings)?;
        if request.is_last && reply.jobs.is_empty() {
            self.read_left_jobs_and_pop_if_ready(total, &queues, &mut reply)?;
        }
        self.queues.advance_past_popped(&reply.jobs);
        reply.emptied = queues_that_gave_less_than_asked(total, &queues, &reply.jobs);
        Ok(reply)
    }

    /// Reads which jobs are left after a call that brought none, and whether some become ready without a further put.
    /// Pops once more if jobs are ready by now.
    fn read_left_jobs_and_pop_if_ready(
        &mut self,
        total: u64,
        queues: &[(Name, u64)],
        reply: &mut FinishAndPopReply,
    ) -> Result<(), Error> {
        let now = self.core.now();
        let names = self.queues.names();
        let Ok((rest, left)) = read_remaining_work(&mut self.core, now, &names) else {
            // Without a reply, assume that jobs are left: the worker asks again.
            reply.has_rest = true;
            return Ok(());
        };
        reply.has_rest = rest == WorkLeftAfterEmptyPop::Waits;
        if rest == WorkLeftAfterEmptyPop::Ready {
            // With very many queues, the first call popped from some only: now pop from queues with jobs.
            let queues = if names.len() > MAX_QUEUES {
                let waiting = left.iter().filter(|left| left.waiting > 0);
                let waiting = waiting.map(|left| (left.queue.clone(), total));
                waiting.take(MAX_QUEUES).collect()
            } else {
                queues.to_vec()
            };
            // An error here makes the worker recover the call: it ends the jobs again and searches for the popped ones.
            let again = self
                .core
                .finish_and_pop(now, &self.worker, total, &queues, &[]);
            let again = again.map_err(|error| {
                if reply.endings.is_empty() {
                    error
                } else {
                    // The first call has written the endings. With this kind of error, the worker searches for their
                    // results instead of sending them again.
                    Error::new(Kind::OutcomeUnknown, error.message())
                }
            })?;
            (reply.jobs, reply.due_in) = (again.jobs, again.due_in);
            // If the pop stopped its search at a limit, the next call may find jobs.
            reply.has_rest = reply.jobs.is_empty() && reply.due_in.is_some_and(|due| due < AT_ONCE);
        }
        reply.left = left;
        Ok(())
    }

    /// The queues from which a pop may bring a job now.
    fn find_ready_queues(&mut self, now: Moment) -> Result<ReadyQueues, Error> {
        let mut ready = if self.queues.are_known {
            self.core.ready_queues(now, &[])?
        } else {
            ReadyQueues::default()
        };
        if !self.queues.unlisted.is_empty() {
            ready.add_queues(self.core.ready_queues(now, &self.queues.unlisted)?);
        }
        Ok(ready)
    }
}

/// The queues that gave fewer jobs than the call asked each of them for, and so have no more.
fn queues_that_gave_less_than_asked(
    max_jobs: u64,
    queues: &[(Name, u64)],
    jobs: &[PoppedJob],
) -> Vec<Name> {
    let mut given: HashMap<&Name, u64> = HashMap::new();
    for job in jobs {
        *given.entry(&job.queue).or_default() += 1;
    }
    let mut left = max_jobs;
    let mut emptied = Vec::new();
    for (queue, count) in queues {
        let count = (*count).min(left);
        let got = given.get(queue).copied().unwrap_or_default().min(count);
        if got < count {
            emptied.push(queue.clone());
        }
        left -= got;
        given.entry(queue).and_modify(|given| *given -= got);
    }
    emptied
}

/// The work that is left in queues from which a pop brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkLeftAfterEmptyPop {
    /// No job that this worker can get without a put or an operator.
    Nothing,
    /// Waiting jobs: they became ready after the pop, or the queue's limit of running jobs keeps them.
    Ready,
    /// Jobs that become ready by themselves: they wait for a slot of a throttle, for a job before them in their lane,
    /// or for the end of the grace period of another worker's expired lock.
    Waits,
}

/// Reads which work is left in queues, and the numbers of jobs that they hold. Paused queues, scheduled jobs, jobs with
/// dependencies, jobs of other workers, and jobs that wait behind one of these are not work that is left.
fn read_remaining_work(
    core: &mut Core,
    now: Moment,
    queues: &[Name],
) -> Result<(WorkLeftAfterEmptyPop, Vec<JobsLeftInQueue>), Error> {
    let mut rest = WorkLeftAfterEmptyPop::Nothing;
    let queues = queues::read_queues(core, now, queues)?;
    let mut left = Vec::new();
    let mut stalls = false;
    for queue in &queues {
        let locks = match queue.running + queue.stalled {
            0 => LocksOfOtherWorkers::default(),
            _ => read_other_locks(core, now, &queue.name)?,
        };
        stalls |= locks.stalled > 0 && !queue.paused;
        left.extend(JobsLeftInQueue::from_counts(queue, locks));
    }
    if stalls {
        return Ok((WorkLeftAfterEmptyPop::Waits, left));
    }
    let queues: Vec<Queue> = queues.into_iter().filter(|queue| !queue.paused).collect();
    let names: BTreeSet<&Name> = queues.iter().map(|queue| &queue.name).collect();
    for queue in &queues {
        let waits = queue.throttled > 0 && can_throttled_job_run_later(core, now, &queue.name)?
            || queue.depends > 0 && can_lane_blocked_job_run_later(core, now, &queue.name, &names)?;
        if waits {
            return Ok((WorkLeftAfterEmptyPop::Waits, left));
        }
        if queue.waiting + queue.stalled > 0 {
            rest = WorkLeftAfterEmptyPop::Ready;
        }
    }
    Ok((rest, left))
}

fn read_other_locks(
    core: &mut Core,
    now: Moment,
    queue: &Name,
) -> Result<LocksOfOtherWorkers, Error> {
    let mut locks = LocksOfOtherWorkers::default();
    let mut held = IndexReader::forward(Index::Locks(queue.clone()), JOBS_PER_READ);
    while let Some(jids) = held.next_members(core, now)? {
        let jobs = core.jobs_with_fields(now, "jid,shown,grace,lock", &jids)?;
        for job in jobs.iter().flatten() {
            if !job.in_grace && job.state != Some(State::Stalled) {
                locks.valid += 1;
                continue;
            }
            locks.stalled += 1;
            if let Some(expires) = job.expires {
                locks.grace_left = locks.grace_left.max(expires.since(now));
            }
        }
    }
    Ok(locks)
}

/// Whether a job of the queue that a throttle holds can run later: none of its throttles has a maximum below 0. Also
/// true if no throttle holds a job of the queue any more.
fn can_throttled_job_run_later(core: &mut Core, now: Moment, queue: &Name) -> Result<bool, Error> {
    let mut maxima: BTreeMap<Name, i64> = BTreeMap::new();
    let mut held = IndexReader::forward(Index::Throttled(queue.clone()), JOBS_PER_READ);
    let mut was_released = true;
    while let Some(jids) = held.next_members(core, now)? {
        was_released &= jids.is_empty();
        let jobs = core.jobs_with_fields(now, "jid,throttles", &jids)?;
        let ids: BTreeSet<&Name> = jobs
            .iter()
            .flatten()
            .flat_map(|job| &job.throttles)
            .collect();
        let new = ids.into_iter().filter(|id| !maxima.contains_key(*id));
        let new: Vec<Name> = new.cloned().collect();
        let found = core.throttle_maxima(now, &new)?;
        maxima.extend(new.into_iter().zip(found));
        let lets_run = |id: &Name| maxima.get(id).is_none_or(|maximum| *maximum >= 0);
        let mut jobs = jobs.iter().flatten();
        if jobs.any(|job| job.throttles.iter().all(lets_run)) {
            return Ok(true);
        }
    }
    Ok(was_released)
}

/// Whether a job of the queue that waits in a lane can run later: a job of the lane runs, or is ready in one of the
/// worker's `queues`. Also true if no job of the queue has dependencies any more.
fn can_lane_blocked_job_run_later(
    core: &mut Core,
    now: Moment,
    queue: &Name,
    queues: &BTreeSet<&Name>,
) -> Result<bool, Error> {
    let mut seen: BTreeSet<Name> = BTreeSet::new();
    let mut blocked = IndexReader::forward(Index::Depends(queue.clone()), JOBS_PER_READ);
    let mut was_released = true;
    while let Some(jids) = blocked.next_members(core, now)? {
        was_released &= jids.is_empty();
        let jobs = core.jobs_with_fields(now, "jid,key", &jids)?;
        let keys = jobs.into_iter().flatten().filter_map(|job| job.key);
        let lanes: Vec<Name> = keys.filter(|key| seen.insert(key.clone())).collect();
        let lanes = core.jobs_of_lanes(now, &lanes)?;
        let mut jobs = lanes.iter().flatten();
        let runs = |job: &Neighbor| match job.state {
            Some(State::Running | State::Stalled) => true,
            Some(State::Waiting) => job.queue.as_ref().is_some_and(|name| queues.contains(name)),
            _ => false,
        };
        if jobs.any(runs) {
            return Ok(true);
        }
    }
    Ok(was_released)
}
