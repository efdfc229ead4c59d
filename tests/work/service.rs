//! A worker under a service manager that wants to know how it is.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::work::WorkSite;

/// The next thing that the manager is told.
fn told(manager: &UnixDatagram) -> String {
    let mut buffer = [0; 100];
    let length = manager.recv(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..length]).trim().to_owned()
}

#[test]
fn a_service_manager_learns_that_a_worker_is_ready_alive_and_stopping() {
    let mut site = WorkSite::new();
    let socket = site.dir().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let qless = site
        .qless()
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "200000");
    site.put("mail", "a", "{}");
    let worker = site.start_as(&qless, "mail", "env > $D/env");
    assert_eq!(told(&manager), "READY=1");
    assert_eq!(told(&manager), "WATCHDOG=1");
    assert_eq!(told(&manager), "WATCHDOG=1");
    site.until_state("a", "complete");
    worker.signal(Signal::TERM);
    let last = std::iter::repeat_with(|| told(&manager)).find(|text| text != "WATCHDOG=1");
    assert_eq!(last.unwrap(), "STOPPING=1");
    worker.end().exits(0);
    // The socket is for qless alone.
    let env = site.file("env");
    assert!(env.contains("QLESS_JID=a"), "{env}");
    assert!(
        !env.contains("NOTIFY_SOCKET") && !env.contains("WATCHDOG"),
        "{env}"
    );
}
