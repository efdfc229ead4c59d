//! Joins the Lua core for the usual prefix, so that no command has to.

#[allow(dead_code)]
#[path = "src/core/script/join.rs"]
mod join;
#[allow(dead_code)]
#[path = "src/core/script/source.rs"]
mod source;

use std::path::Path;

fn main() {
    let core = join::join("ql:", join::Dialect::Common, source::DISPATCH).text;
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("core.lua"), &core).expect("OUT_DIR can be written");
    let sha = sha1_smol::Sha1::from(&core).digest();
    println!("cargo::rustc-env=QLESS_CORE_SHA={sha}");
    println!("cargo::rerun-if-changed=lua");
}
