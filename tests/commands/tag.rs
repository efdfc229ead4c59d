//! `qless tag`

use expect_test::expect;

use super::jobs::busy;

#[test]
fn tags_are_listed_most_used_first() {
    let redis = busy();
    redis.at(100).run("tag").shows(expect![[r#"
        eu	2
        vip	1
    "#]]);
    redis
        .at(100)
        .run("tag --limit 1 -o json")
        .shows(expect![[r#"
            {
              "kind": "tags",
              "v": 1,
              "total": 2,
              "offset": 0,
              "items": [
                {
                  "tag": "eu",
                  "jobs": 2
                }
              ]
            }
        "#]]);
}

#[test]
fn raw_is_the_reply_of_the_core() {
    let redis = busy();
    let told = redis.at(100).run("api tag top").stdout();
    assert_eq!(redis.at(100).run("tag -o raw").stdout(), told);
}
