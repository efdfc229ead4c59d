//! The library form: what plugins find if it comes before their own script.

use serde_json::json;

use crate::support::core::{Core, Reply};

/// What Ruby's `LuaPlugin` makes of the library: it removes whole-line comments.
fn library() -> String {
    let library = qless::internals::Script::for_appended_plugins("ql:").script_text();
    let lines = library
        .lines()
        .filter(|line| !line.trim_start_matches([' ', '\t']).starts_with("--"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn eval(core: &mut Core, plugin: &str, argv: &[&str]) -> Reply {
    let script = format!("{}{plugin}", library());
    let mut words: Vec<&[u8]> = vec![b"EVAL", script.as_bytes(), b"0"];
    words.extend(argv.iter().map(|word| word.as_bytes()));
    core.redis_words(&words)
}

#[test]
fn a_plugin_multiplies_an_option() {
    let mut core = Core::new();
    let plugin = "return Qless.config.get(ARGV[1]) * ARGV[2]";
    assert_eq!(
        eval(&mut core, plugin, &["heartbeat", "10"]),
        Reply::Int(600)
    );
    core.ok("config.set 0 heartbeat 7");
    assert_eq!(
        eval(&mut core, plugin, &["heartbeat", "10"]),
        Reply::Int(70)
    );
}

#[test]
fn the_library_does_nothing_by_itself_and_needs_no_arguments() {
    let mut core = Core::new();
    assert_eq!(eval(&mut core, "return 1", &[]), Reply::Int(1));
    assert_eq!(
        eval(
            &mut core,
            "return 1",
            &["put", "0", "w", "q", "j", "K", "{}", "0"]
        ),
        Reply::Int(1)
    );
    assert!(core.dump().0.is_empty() && core.events().is_empty());
}

#[test]
fn all_names_that_plugins_use_exist() {
    let mut core = Core::new();
    let plugin = "
        local missing = {}
        for _, name in ipairs({'publish', 'job', 'recurring', 'queue', 'failed', 'jobs', 'track', 'tag', 'cancel'}) do
          if type(Qless[name]) ~= 'function' then missing[#missing + 1] = name end
        end
        for _, name in ipairs({'get', 'set', 'unset'}) do
          if type(Qless.config[name]) ~= 'function' then missing[#missing + 1] = 'config.' .. name end
        end
        return {table.concat(missing, ' '), type(Qless.config.defaults), Qless.ns, QlessJob.ns, QlessQueue.ns,
          QlessWorker.ns, type(QlessRecurringJob)}";
    assert_eq!(
        eval(&mut core, plugin, &[]).texts(),
        ["", "table", "ql:", "ql:j:", "ql:q:", "ql:w:", "table"]
    );
}

#[test]
fn defaults_do_not_depend_on_stored_options() {
    let mut core = Core::new();
    core.all("config.set 0 heartbeat 7; config.set 0 mine 8");
    let plugin = "return {Qless.config.defaults.heartbeat, Qless.config.defaults['grace-period'],
        tostring(Qless.config.defaults.mine), Qless.config.defaults.application}";
    assert_eq!(
        eval(&mut core, plugin, &[]),
        Reply::List(vec![
            Reply::Int(60),
            Reply::Int(10),
            Reply::Text("nil".into()),
            Reply::Text("qless".into())
        ])
    );
}

#[test]
fn plugins_read_options_with_their_own_default_and_write_them() {
    let mut core = Core::new();
    let plugin = "
        Qless.config.set('mine', 5)
        local set = Qless.config.get('mine', 1)
        Qless.config.unset('mine')
        return {tostring(set), tostring(Qless.config.get('mine', 1)), tostring(Qless.config.get('mine'))}";
    let reply = eval(&mut core, plugin, &[]).texts();
    assert_eq!(reply[..2], ["5", "1"]);
    assert!(!core.dump().has("ql:config"));
}

#[test]
fn publishing_adds_the_prefix() {
    let mut core = Core::new();
    eval(&mut core, "return Qless.publish('mine', 'hello')", &[]);
    assert_eq!(core.published(), ["ql:mine hello"]);
}

#[test]
fn plugins_reach_jobs_queues_and_templates() {
    let mut core = Core::new();
    core.all("put 0 w q j K {} 0; recur 0 q r K {} interval 60 1000; put 0 w q f K {} 0 priority -1; pop 0 p w1 1");
    let plugin = "
        local data = Qless.job('j'):data()
        local template = Qless.recurring('r'):data()
        return {data.state, data.queue, template.state, tostring(Qless.job('nope'):data()), Qless.queue('q').name}";
    assert_eq!(
        eval(&mut core, plugin, &[]).texts(),
        ["waiting", "q", "recur", "nil", "q"]
    );
}

#[test]
fn a_plugin_has_room_for_its_own_locals() {
    let mut core = Core::new();
    let locals: String = (0..150).map(|n| format!("local l{n} = {n}\n")).collect();
    assert_eq!(
        eval(&mut core, &format!("{locals}return l149"), &[]),
        Reply::Int(149)
    );
}

#[test]
fn a_custom_prefix_is_used_everywhere() {
    let mut core = Core::new();
    let script = qless::internals::Script::for_appended_plugins("{t}:").script_text()
        + "Qless.publish('x', 'y')\nreturn {Qless.ns, QlessJob.ns, cjson.encode(Qless.failed())}";
    let reply = core.redis_words(&[b"EVAL", script.as_bytes(), b"0"]);
    assert_eq!(reply.texts(), ["{t}:", "{t}:j:", &json!({}).to_string()]);
    assert!(core.events().is_empty());
}
