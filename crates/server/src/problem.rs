//! Errors as `application/problem+json` (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::served::Fault;

/// What went wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// Where in the body, as a JSON pointer.
    pub(crate) pointer: Option<String>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), pointer: None }
    }

    /// Something in the body.
    pub(crate) fn at(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            pointer: Some(pointer.into()),
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
        }
    }

    pub(crate) fn too_large(most: usize) -> Self {
        let detail = format!(
            "the body is larger than {most} bytes; send fewer examples at a time, or a stream of JSON lines"
        );
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    pub(crate) fn busy() -> Self {
        let detail = "the server holds as many bytes of other requests as it may; try again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// As JSON; `id` is that of the request.
    pub(crate) fn json(&self, id: Option<&str>) -> Value {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let mut object = json!({
            "type": "about:blank",
            "title": title,
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if let Some(pointer) = &self.pointer {
            object["pointer"] = json!(pointer);
        }
        if let Some(id) = id {
            object["instance"] = json!(format!("urn:request:{id}"));
        }
        object
    }

    pub(crate) fn response(&self, id: &str) -> Response<Body> {
        let mut response = Response::new(Body::from(self.json(Some(id)).to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        match fault.of_request {
            true => Self::at(fault.pointer, fault.detail),
            false => Self::new(StatusCode::INTERNAL_SERVER_ERROR, fault.detail),
        }
    }
}
