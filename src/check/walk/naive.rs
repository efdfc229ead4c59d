//! The walk that suspects everything.

use super::{Scope, Seen, Sink};
use crate::core::check::{Kind, Place};
use crate::core::{Call, Core, reply};
use crate::error::{Error, Kind as Fault};
use crate::model::moment::Moment;
use crate::model::name::Name;

/// How many keys or members a page has.
const PAGE: &str = "500";

pub fn run(
    core: &mut Core,
    now: Moment,
    scope: &Scope,
    sink: &mut dyn Sink,
) -> Result<Seen, Error> {
    let mut walk = Naive {
        core,
        now,
        scope,
        sink,
        late: Vec::new(),
        seen: Seen::default(),
    };
    walk.keys()?;
    let (late, seen) = (std::mem::take(&mut walk.late), walk.seen);
    walk.sink.whole(walk.core)?;
    for (place, item) in late {
        walk.sink.suspect(walk.core, &place, item)?;
    }
    Ok(seen)
}

struct Naive<'a> {
    core: &'a mut Core,
    now: Moment,
    scope: &'a Scope,
    sink: &'a mut dyn Sink,
    late: Vec<(Place, Name)>,
    seen: Seen,
}

impl Naive<'_> {
    fn keys(&mut self) -> Result<(), Error> {
        let prefix = self.core.prefix().to_string();
        let mut cursor = b"0".to_vec();
        loop {
            let call = Call::plain("SCAN").arg(&cursor).arg("MATCH");
            let call = call.arg(format!("{prefix}*")).arg("COUNT").arg(PAGE);
            let (next, keys) = self.page(call)?;
            let mut seen = Seen::default();
            for key in keys {
                let name = &key.as_bytes()[prefix.len().min(key.as_bytes().len())..];
                seen.keys += 1;
                self.key(&key, name, &mut seen)?;
            }
            self.seen.keys += seen.keys;
            self.seen.jobs += seen.jobs;
            self.seen.queues += seen.queues;
            self.sink.seen(self.core, seen)?;
            cursor = next;
            if cursor == b"0" {
                return Ok(());
            }
        }
    }

    fn key(&mut self, key: &Name, name: &[u8], seen: &mut Seen) -> Result<(), Error> {
        let whole = self.scope.queues.is_empty();
        if whole {
            self.suspect(Kind::Key, b"", name)?;
        }
        let (family, rest) = match name.iter().position(|byte| *byte == b':') {
            Some(at) => name.split_at(at + 1),
            None => (name, &b""[..]),
        };
        match family {
            b"j:" => {
                seen.jobs += u64::from(!companion(rest));
                self.suspect(Kind::Job, b"", rest)
            }
            b"r:" if whole => self.suspect(Kind::Recurring, b"", rest),
            b"q:" => {
                let Some(at) = rest.iter().rposition(|byte| *byte == b'-') else {
                    return Ok(());
                };
                let (queue, part) = (&rest[..at], &rest[at + 1..]);
                if !whole && !self.scope.queues.contains(&Name::from(queue)) {
                    return Ok(());
                }
                let kind = match part {
                    b"work" => Kind::Work,
                    b"locks" => Kind::Locks,
                    b"scheduled" => Kind::Scheduled,
                    b"depends" => Kind::Depends,
                    b"recur" => Kind::Recur,
                    _ => return Ok(()),
                };
                self.suspect(Kind::Names, b"queues", queue)?;
                self.members("ZSCAN", 2, key, kind, queue)
            }
            b"w:" if whole => match rest.strip_suffix(b":jobs") {
                Some(worker) => self.members("ZSCAN", 2, key, Kind::Worker, worker),
                None => Ok(()),
            },
            b"t:" if whole => {
                self.late(Kind::Names, b"tags", rest);
                self.members("ZSCAN", 2, key, Kind::Tag, rest)
            }
            b"s:" if whole => {
                self.late(Kind::Key, b"", name);
                Ok(())
            }
            b"f:" if whole => {
                self.suspect(Kind::Names, b"failures", rest)?;
                self.list(key, rest)
            }
            b"completed" if whole => self.members("ZSCAN", 2, key, Kind::Completed, b""),
            b"tracked" if whole => self.members("ZSCAN", 2, key, Kind::Tracked, b""),
            b"queues" => {
                seen.queues += self.counted("ZCARD", key)?;
                match whole {
                    true => self.members("ZSCAN", 2, key, Kind::Names, name),
                    false => Ok(()),
                }
            }
            b"workers" | b"tags" if whole => self.members("ZSCAN", 2, key, Kind::Names, name),
            b"failures" | b"paused_queues" if whole => {
                self.members("SSCAN", 1, key, Kind::Names, name)
            }
            b"config" if whole => self.members("HSCAN", 2, key, Kind::Names, name),
            _ => Ok(()),
        }
    }

    fn suspect(&mut self, kind: Kind, name: &[u8], item: &[u8]) -> Result<(), Error> {
        let place = Place::new(kind, name);
        self.sink.suspect(self.core, &place, Name::from(item))
    }

    fn late(&mut self, kind: Kind, name: &[u8], item: &[u8]) {
        self.late.push((Place::new(kind, name), Name::from(item)));
    }

    /// Suspects the members of a set, a page at a time; `step`: how many words each has.
    fn members(
        &mut self,
        command: &str,
        step: usize,
        key: &Name,
        kind: Kind,
        name: &[u8],
    ) -> Result<(), Error> {
        let place = Place::new(kind, name);
        let mut cursor = b"0".to_vec();
        loop {
            let call = Call::plain(command).arg(key).arg(&cursor);
            let (next, words) = match self.page(call.arg("COUNT").arg(PAGE)) {
                // A key of another type is told as that.
                Err(error) if error.kind() == Fault::Damaged => return Ok(()),
                page => page?,
            };
            for member in words.into_iter().step_by(step) {
                if kind == Kind::Depends || place.name.as_bytes() == b"tags" {
                    let place = match kind {
                        Kind::Depends => Place::new(Kind::Job, ""),
                        _ => place.clone(),
                    };
                    self.late.push((place, member.clone()));
                }
                self.sink.suspect(self.core, &place, member)?;
            }
            cursor = next;
            if cursor == b"0" {
                return Ok(());
            }
        }
    }

    fn list(&mut self, key: &Name, group: &[u8]) -> Result<(), Error> {
        let (place, mut from) = (Place::new(Kind::Group, group), 0);
        loop {
            let call = Call::plain("LRANGE").arg(key).arg(from.to_string());
            let call = call.arg((from + 499).to_string());
            let jids = match self.one(call) {
                Err(error) if error.kind() == Fault::Damaged => return Ok(()),
                reply => reply::names(reply?)?,
            };
            if jids.is_empty() {
                return Ok(());
            }
            from += jids.len();
            for jid in jids {
                self.sink.suspect(self.core, &place, jid)?;
            }
        }
    }

    fn counted(&mut self, command: &str, key: &Name) -> Result<u64, Error> {
        match self.one(Call::plain(command).arg(key)) {
            Err(error) if error.kind() == Fault::Damaged => Ok(0),
            reply => reply::integer(reply?).map(i64::unsigned_abs),
        }
    }

    fn page(&mut self, call: Call) -> Result<(Vec<u8>, Vec<Name>), Error> {
        let mut page = reply::list(self.one(call)?)?.into_iter();
        match (page.next(), page.next()) {
            (Some(cursor), Some(names)) => Ok((reply::bytes(cursor)?, reply::names(names)?)),
            _ => Err(Error::internal(
                "the server answered something else than a page",
            )),
        }
    }

    fn one(&mut self, call: Call) -> Result<crate::core::Value, Error> {
        match self.core.calls(self.now, std::slice::from_ref(&call)).pop() {
            Some(outcome) => outcome,
            None => Err(Error::internal("a call without outcome")),
        }
    }
}

/// Whether a key is the companion of a job by its name.
fn companion(jid: &[u8]) -> bool {
    ["-history", "-dependencies", "-dependents"]
        .iter()
        .any(|end| jid.ends_with(end.as_bytes()))
}
