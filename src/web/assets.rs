//! The files that every page shares: the style, the script and the icon. They are part of the binary.

use crate::listen::{Response, Status};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("live.js");
const ICON: &str = include_str!("icon.svg");

/// The style sheet, the script or the icon at a path.
pub(super) fn find_asset(path: &str) -> Option<Response<'static>> {
    let (content_type, text) = match path {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "live.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return None,
    };
    Some(Response::new(Status::Ok, content_type, text))
}
