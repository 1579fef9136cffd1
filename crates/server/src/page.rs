//! The page, as it was built: `cargo xtask page`.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use axum::response::IntoResponse;

use crate::problem::Problem;

/// Path, content type, bytes.
type File = (&'static str, &'static str, &'static [u8]);

const FILES: [File; 3] = [
    ("/", "text/html; charset=utf-8", include_bytes!("../dist/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_bytes!("../dist/page.js")),
    ("/page.css", "text/css; charset=utf-8", include_bytes!("../dist/page.css")),
];

/// Nothing from elsewhere is loaded or called; the drawings set styles of their own.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page, or that there is nothing of this name.
pub(crate) async fn answer(request: Request) -> Response<Body> {
    let path = request.uri().path();
    let found = FILES.iter().find(|(name, ..)| *name == path);
    let Some((_, kind, bytes)) = found else {
        let detail = format!("there is nothing at {path}; see /openapi.json for what there is");
        return Problem::new(StatusCode::NOT_FOUND, detail).into_response();
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let detail = "this address can be read only";
        let mut refused = Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail).into_response();
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let mut response = Response::new(Body::from(*bytes));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, *kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
