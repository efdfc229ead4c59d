//! `qless length`

use expect_test::expect;

use crate::support::redis::Redis;

#[test]
fn an_empty_queue_name_is_refused() {
    let redis = Redis::start();
    redis.at(0).run("length ''").shows(expect![[r#"
        --- stderr
        error: `QUEUE` is empty
        --- exit 2
    "#]]);
}
