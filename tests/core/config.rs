//! Options: the answers for set, unset and unknown ones.

use expect_test::expect;

use crate::support::core::Core;

#[test]
fn options_are_set_and_read() {
    Core::new().session(expect![[r#"
        == Unset options answer their defaults in their own type
        config.get 0 heartbeat → :60
        config.get 0 application → qless
        config.get 0 jobs-history-count → :50000
        config.get 0 max-job-history → nil
        config.get 0 max-worker-age → nil
        config.get 0 q-heartbeat → nil
        config.get 0 nope → nil
        config.get 0 '' → nil

        == All options are the defaults overlaid with what is stored
        config.set 0 heartbeat 30; config.set 0 max-job-history 5; config.set 0 mine ''
        config.get 0 → {"application":"qless","grace-period":10,"heartbeat":"30","histogram-history":7,"jobs-history":604800,"jobs-history-count":50000,"max-job-history":"5","mine":"","stats-history":30}
        config.get 0 mine → ''

        == Setting and unsetting publish to the log
        config.set 0 a/b 'x "y"' → nil
        config.unset 0 a/b → nil
        config.unset 0 a/b → nil
        events →
            * ql:log {"option":"a\/b","event":"config_set","value":"x \"y\""}
            * ql:log {"event":"config_unset","option":"a\/b"}
            * ql:log {"event":"config_unset","option":"a\/b"}
        keys * → none

        == A negative heartbeat makes every lock expire immediately
        config.set 0 heartbeat -10; config.set 0 grace-period 0; put 0 w q j K {} 0
        pop 1 q w1 1 | jid → j
        pop 1 q w2 1 | jid → j
    "#]]);
}
