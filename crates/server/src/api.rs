//! What there is to ask, and who may.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::time::{timeout, timeout_at};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::answer::{Answering, Room};
use crate::body::{self, Held};
use crate::budget::Budget;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::models::{Loaded, Models};
use crate::options::Limits;
use crate::problem::Problem;
use crate::request;
use crate::served::{Ask, Fault, Playground};
use crate::work::{self, Pool, Unwanted};
use crate::{openapi, page, stream};

/// Everything that requests share.
pub(crate) struct App {
    pub(crate) models: Models,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) budget: Arc<Budget>,
    pub(crate) pool: Pool,
    pub(crate) limits: Limits,
    pub(crate) playground: Option<Arc<dyn Playground>>,
    pub(crate) token: Option<String>,
    /// Answers go on, but connections end with them.
    pub(crate) draining: AtomicBool,
}

impl App {
    pub(crate) fn panicked(&self, model: &str) {
        self.metrics.panics.fetch_add(1, Ordering::Relaxed);
        self.log.error("panic", json!({"model": model}));
    }

    fn model(&self, name: &str) -> Result<Arc<Loaded>, Problem> {
        self.models.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.models.names().take(20).collect();
            let detail = format!("there is no model {name:?}; there are {}", known.join(", "));
            Problem::new(StatusCode::NOT_FOUND, detail)
        })
    }
}

type Shared = State<Arc<App>>;
type Answer = Result<Response<Body>, Problem>;

impl IntoResponse for Problem {
    /// Rendered where the id of the request is known.
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self);
        response
    }
}

/// The name in an address.
struct Name(String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let not_text = |_| Problem::new(StatusCode::NOT_FOUND, "a model's name is UTF-8");
        let Path(name) = Path::from_request_parts(parts, state).await.map_err(not_text)?;
        Ok(Self(name))
    }
}

/// All routes.
pub(crate) fn router(app: Arc<App>, origins: &[String]) -> Result<Router, String> {
    let routes = Router::new()
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi_json))
        .route("/v1/models", get(list))
        .route("/v1/models/{name}", get(describe))
        .route("/v1/models/{name}/predict", post(predict))
        .route("/v1/models/{name}/explain", post(explain))
        .route("/v1/models/{name}/evaluate", post(evaluate))
        .route("/v1/models/{name}/views", get(views))
        .route("/v1/playground", post(playground))
        .fallback(page::answer)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), around))
        .with_state(app);
    if origins.is_empty() {
        return Ok(routes);
    }
    let allowed = match origins.iter().any(|origin| origin == "*") {
        true => AllowOrigin::any(),
        false => {
            let parse = |origin: &String| {
                origin.parse::<HeaderValue>().map_err(|_| format!("{origin:?} is not an origin"))
            };
            AllowOrigin::list(origins.iter().map(parse).collect::<Result<Vec<_>, _>>()?)
        }
    };
    let cors = CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION]);
    Ok(routes.layer(cors))
}

/// What happens around every request: its id, the token, counters, the log, and problems as JSON.
async fn around(State(app): Shared, request: Request, next: Next) -> Response<Body> {
    let id = app.log.id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = route_of(&path);
    let (mut parts, body) = request.into_parts();
    // Names that do not exist are no label: anybody could make them up.
    let model = Name::from_request_parts(&mut parts, &()).await.map(|Name(name)| name);
    let model = model.ok().filter(|name| app.models.get(name).is_some()).unwrap_or_default();
    let request = Request::from_parts(parts, body);
    app.metrics.in_flight.fetch_add(1, Ordering::Relaxed);
    let visit = Visit {
        app: app.clone(),
        id: id.clone(),
        method,
        path: path.clone(),
        route,
        model,
        started: Instant::now(),
        is_told: false,
    };
    let mut response = match needs_token(route) && !is_allowed(&app, request.headers()) {
        true => {
            let detail = "send the token of the server as Authorization: Bearer TOKEN";
            Problem::new(StatusCode::UNAUTHORIZED, detail).into_response()
        }
        false => next.run(request).await,
    };
    let problem = response.extensions_mut().remove::<Problem>();
    if let Some(problem) = &problem {
        let allowed = response.headers_mut().remove(header::ALLOW);
        response = problem.response(&id);
        response.headers_mut().extend(allowed.map(|allowed| (header::ALLOW, allowed)));
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert("x-request-id", id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if app.draining.load(Ordering::Relaxed) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    visit.end(response.status().as_u16(), problem.as_ref());
    response
}

/// A request from its first to its last moment. One whose client hangs up is dropped, and counted as 499.
struct Visit {
    app: Arc<App>,
    id: String,
    method: Method,
    path: String,
    route: &'static str,
    model: String,
    started: Instant,
    is_told: bool,
}

impl Visit {
    fn end(mut self, status: u16, problem: Option<&Problem>) {
        self.tell(status, problem);
    }

    fn tell(&mut self, status: u16, problem: Option<&Problem>) {
        self.is_told = true;
        let took = self.started.elapsed();
        self.app.metrics.request(self.route, &self.model, status, took);
        if !self.app.log.logs_requests() {
            return;
        }
        let mut line = json!({
            "id": self.id,
            "method": self.method.as_str(),
            "path": self.path,
            "status": status,
            "ms": (took.as_secs_f64() * 1e6).round() / 1e3,
        });
        if let Some(problem) = problem {
            line["detail"] = json!(problem.detail);
            line["pointer"] = json!(problem.pointer);
        }
        self.app.log.request(line);
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.is_told {
            self.tell(HUNG_UP, None);
        }
        self.app.metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What nginx logs for a client that did not wait for its answer.
const HUNG_UP: u16 = 499;

/// What a path is counted as.
fn route_of(path: &str) -> &'static str {
    let mut parts = path.trim_matches('/').split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("healthz" | "readyz"), None, ..) => "health",
        (Some("metrics"), None, ..) => "metrics",
        (Some("openapi.json"), None, ..) => "openapi",
        (Some("v1"), Some("models"), None, _) => "models",
        (Some("v1"), Some("models"), _, None) => "model",
        (Some("v1"), Some("models"), _, Some("predict")) => "predict",
        (Some("v1"), Some("models"), _, Some("explain")) => "explain",
        (Some("v1"), Some("models"), _, Some("evaluate")) => "evaluate",
        (Some("v1"), Some("models"), _, Some("views")) => "views",
        (Some("v1"), Some("playground"), None, _) => "playground",
        (Some("v1"), ..) => "unknown",
        _ => "page",
    }
}

/// Probes have no token, and the page is the same for everybody.
fn needs_token(route: &str) -> bool {
    !matches!(route, "health" | "page")
}

const BEARER: &[u8] = b"Bearer ";

fn is_allowed(app: &App, headers: &HeaderMap) -> bool {
    let Some(token) = &app.token else { return true };
    let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    // The name of a scheme is the same in capitals (RFC 9110).
    let given = match given.split_at_checked(BEARER.len()) {
        Some((scheme, given)) if scheme.eq_ignore_ascii_case(BEARER) => given,
        _ => &[],
    };
    // Takes as long whatever the first wrong byte is.
    let differ = given.iter().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    given.len() == token.len() && differ == 0
}

async fn wrong_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this address has another method; see /openapi.json",
    )
}

async fn ready(State(app): Shared) -> Answer {
    match app.draining.load(Ordering::Relaxed) {
        true => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end")),
        false => Ok("ready\n".into_response()),
    }
}

async fn metrics(State(app): Shared) -> Response<Body> {
    let mut response = app.metrics.text(app.budget.held()).into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

async fn openapi_json(State(app): Shared) -> Answer {
    let shared = app.clone();
    let describe = move |_: &_| {
        let one = |name| shared.models.summary(name).zip(shared.models.get(name));
        let models: Vec<openapi::Example> = (shared.models.names().filter_map(one))
            .map(|(summary, loaded)| {
                let most = shared.limits.rows;
                openapi::Example::new(summary, &*loaded.served, loaded.version, most)
            })
            .collect();
        openapi::document(&models, shared.token.is_some()).to_string().into_bytes()
    };
    let described = app.pool.run(describe).await.map_err(|_| failed(&app, "openapi.json"))?;
    Ok(json_response(described))
}

async fn list(State(app): Shared) -> Response<Body> {
    let models: Vec<Value> =
        app.models.names().filter_map(|name| app.models.summary(name)).collect();
    let playground = app.playground.is_some();
    json_response(json!({ "models": models, "playground": playground }).to_string().into_bytes())
}

/// Features that a description of a model has, all classes together.
const LISTED: u64 = 200_000;

async fn describe(State(app): Shared, Name(name): Name, request: Request) -> Answer {
    let model = app.model(&name)?;
    let mut top = None;
    for pair in request.uri().query().unwrap_or_default().split('&').filter(|p| !p.is_empty()) {
        top = match pair.split_once('=') {
            Some(("top", n)) => n.parse().ok().filter(|n| (1..=100_000).contains(n)),
            _ => None,
        };
        if top.is_none() {
            let detail = format!("{pair}: say ?top=N, with N from 1 to 100000");
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
    }
    let summary = app.models.summary(&name);
    // Features are listed for each column of weights, of which some models have thousands.
    let columns =
        summary.as_ref().and_then(|about| about["input"]["outputs"].as_u64()).unwrap_or(1);
    if top.is_some_and(|top: u64| top * columns > LISTED.max(columns)) {
        let most = (LISTED / columns).max(1);
        let detail = format!(
            "?top=N lists N features for each of {columns} columns of weights: {most} at most"
        );
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    let work = move |_: &_| {
        let mut about = model.served.describe(top.map(|top| top as usize));
        // What the server knows comes beside what `inspect` shows, under names of its own.
        if let (Some(about), Some(Value::Object(summary))) = (about.as_object_mut(), summary) {
            about.insert("served".to_owned(), summary.into());
        }
        about.to_string().into_bytes()
    };
    match app.pool.run(work).await {
        Ok(bytes) => Ok(json_response(bytes)),
        Err(_) => Err(failed(&app, &name)),
    }
}

async fn predict(State(app): Shared, Name(name): Name, request: Request) -> Answer {
    let model = app.model(&name)?;
    if is_stream(request.headers())? {
        let ask: Ask = request::from_query(request.uri().query())?;
        let waits = request.headers().contains_key(header::EXPECT);
        let mut body = request.into_body();
        // A client that waits for `100 Continue` gets it when its body is read before the answer begins.
        let first = match waits {
            true => timeout(app.limits.time, body::next(&mut body)).await.unwrap_or(Ok(None))?,
            false => None,
        };
        return Ok(stream::answer(app, name, model, first, body, ask));
    }
    no_query(&request)?;
    answer(app, name, model, request, |model, body, room| model.predict(body, room)).await
}

async fn explain(State(app): Shared, Name(name): Name, request: Request) -> Answer {
    let model = app.model(&name)?;
    if is_stream(request.headers())? {
        let detail = "explanations are asked for in one JSON object, not in a stream";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    no_query(&request)?;
    answer(app, name, model, request, |model, body, room| model.explain(body, room)).await
}

/// What a JSON body asks for is in the body: a query beside it would be ignored.
fn no_query(request: &Request) -> Result<(), Problem> {
    match request.uri().query().is_none_or(str::is_empty) {
        true => Ok(()),
        false => {
            let detail = "options such as proba are keys of the JSON object; in the address they are for streams of JSON lines";
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
        }
    }
}

async fn playground(State(app): Shared, request: Request) -> Answer {
    let Some(playground) = app.playground.clone() else {
        let detail = "there is no playground here; `lineal playground` starts one";
        return Err(Problem::new(StatusCode::NOT_FOUND, detail));
    };
    let train = move |text: &str, unwanted: &_| playground.train(text, unwanted);
    ask_whole(app, "playground", request, train).await
}

async fn evaluate(State(app): Shared, Name(name): Name, request: Request) -> Answer {
    let model = app.model(&name)?;
    if is_stream(request.headers())? {
        let detail = "a labelled file comes in one JSON object, not in a stream";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let shown = name.clone();
    let compare = move |text: &str, unwanted: &_| {
        let mut found = until(&model, unwanted, || model.served.evaluate(text))?;
        found["model"] = json!(shown);
        found["version"] = json!(model.version);
        Ok(found.to_string())
    };
    ask_whole(app, &name, request, compare).await
}

async fn views(State(app): Shared, Name(name): Name) -> Answer {
    let model = app.model(&name)?;
    let draw = move |_: &_| {
        let kept = model.served.kept_evaluation();
        let kept = kept.map(|(source, html)| json!({"source": source, "html": html}));
        let training = model.served.training_view();
        json!({"training": training, "evaluation": kept}).to_string().into_bytes()
    };
    let drawn = app.pool.run(draw).await.map_err(|_| failed(&app, &name))?;
    Ok(json_response(drawn))
}

/// Reads the body, and gives what `ask` makes of it as a whole.
async fn ask_whole(
    app: Arc<App>,
    name: &str,
    request: Request,
    ask: impl FnOnce(&str, &Unwanted) -> Result<String, Fault> + Send + 'static,
) -> Answer {
    let deadline = tokio::time::Instant::now() + app.limits.time;
    let mut part = app.budget.part();
    let read = body::read(request.into_body(), app.limits.body, &mut part);
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time");
    let body = timeout_at(deadline, read).await.map_err(late)??;
    let work = move |unwanted: &Unwanted| -> Result<String, Problem> {
        let not_text = |_| Problem::new(StatusCode::BAD_REQUEST, "the body is not UTF-8");
        let text = String::from_utf8(body).map_err(not_text)?;
        ask(&text, unwanted).map_err(Problem::from)
    };
    let late = |_| {
        let detail = "the answer took longer than a request may; send less at a time";
        Problem::new(StatusCode::GATEWAY_TIMEOUT, detail)
    };
    let done = timeout_at(deadline, app.pool.run(work)).await.map_err(late)?;
    let answer = done.map_err(|_| failed(&app, name))??;
    part.force(answer.len());
    let mut response = json_response(Vec::new());
    *response.body_mut() = Held::body(answer.into_bytes(), part);
    Ok(response)
}

/// Whether the body is a stream of lines. What is neither that nor JSON is refused; what curl and browsers say where nothing was said is taken for JSON.
fn is_stream(headers: &HeaderMap) -> Result<bool, Problem> {
    let packed = headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes);
    if packed.is_some_and(|kind| !kind.eq_ignore_ascii_case(b"identity")) {
        let detail = "packed bodies are not read; send it without a content-encoding";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or("application/json").split(';').next().unwrap_or_default();
    match kind.trim().to_ascii_lowercase().as_str() {
        "application/x-ndjson" | "application/jsonl" | "application/json-lines" => Ok(true),
        "application/json" | "application/x-www-form-urlencoded" | "text/plain" | "" => Ok(false),
        other => {
            let detail =
                format!("{other} is not read; send application/json or {}", stream::NDJSON);
            Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
        }
    }
}

/// Bytes of a body that a quick model answers at once, in the thread that reads it: two changes of threads take longer.
const QUICK: usize = 8 << 10;

type Asked = fn(&Answering<'_>, &[u8], Room<'_>) -> Result<(Vec<u8>, usize), Problem>;

/// Reads the body, and asks the model.
async fn answer(
    app: Arc<App>,
    name: String,
    model: Arc<Loaded>,
    request: Request,
    ask: Asked,
) -> Answer {
    let deadline = tokio::time::Instant::now() + app.limits.time;
    let mut part = app.budget.part();
    let read = body::read(request.into_body(), app.limits.body, &mut part);
    let body = timeout_at(deadline, read).await.map_err(|_| {
        let detail = "the body did not come in time";
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
    })??;
    let most = app.limits.rows;
    let is_quick = body.len() <= QUICK && model.served.is_quick();
    let shown = name.clone();
    let work = move |unwanted: &Unwanted| {
        let (served, version) = (&*model.served, model.version);
        let mut room = |bytes| !unwanted.load(Ordering::Relaxed) && part.grow(bytes);
        let answering = Answering { served, name: &shown, version, most };
        let found = until(&model, unwanted, || ask(&answering, &body, &mut room));
        found.map(|(out, n)| (out, n, part))
    };
    let done = match is_quick {
        true => work::here(work),
        false => timeout_at(deadline, app.pool.run(work)).await.map_err(|_| {
            let detail = "the answer took longer than a request may; send fewer examples at a time";
            Problem::new(StatusCode::GATEWAY_TIMEOUT, detail)
        })?,
    };
    let (out, n, part) = done.map_err(|_| failed(&app, &name))??;
    app.metrics.examples(&name, n);
    let mut response = json_response(Vec::new());
    *response.body_mut() = Held::body(out, part);
    Ok(response)
}

/// What `work` of a model gives. It ends early if nobody waits for it any more.
fn until<R, E: From<Fault>>(
    model: &Loaded,
    unwanted: &Unwanted,
    mut work: impl FnMut() -> Result<R, E>,
) -> Result<R, E> {
    let mut done = Err(Fault::internal("the model did no work").into());
    model.served.until(unwanted, &mut || done = work());
    done
}

fn failed(app: &App, name: &str) -> Problem {
    app.panicked(name);
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the program failed at this request; others are not affected",
    )
}

fn json_response(bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_counted_by_what_they_are() {
        assert_eq!(route_of("/v1/models/a/predict"), "predict");
        assert_eq!(route_of("/v1/models"), "models");
        assert_eq!(route_of("/v1/models/a/b/c"), "unknown");
        assert_eq!(route_of("/"), "page");
        assert!(needs_token("metrics") && !needs_token("page"));
    }
}
