//! What there is to ask, for programs: OpenAPI 3.1.

use serde_json::{Map, Value, json};

use crate::answer::{Answering, example};
use crate::served::{Form, Served};

/// A model as an example of what can be asked, and of what is answered.
pub(crate) struct Example {
    /// As the list of models has it.
    summary: Value,
    /// Requests and answers by operation.
    calls: Vec<(&'static str, Value, Value)>,
}

impl Example {
    /// The example that the model gives, sent to itself.
    pub(crate) fn new(summary: Value, served: &dyn Served, version: u64, most: usize) -> Self {
        let mut calls = Vec::new();
        let request = &summary["input"]["example"];
        if let (false, Some(name)) = (request.is_null(), summary["name"].as_str()) {
            let model = Answering { served, name, version, most };
            let body = request.to_string();
            let found = example(model.predict(body.as_bytes(), &mut |_| true));
            calls.extend(found.map(|answer| ("predict", request.clone(), answer)));
            let mut few = request.clone();
            few["top"] = json!(5);
            let found = example(model.explain(few.to_string().as_bytes(), &mut |_| true));
            calls.extend(found.map(|answer| ("explain", few, answer)));
        }
        Self { summary, calls }
    }
}

/// The document; the models are examples in it.
pub(crate) fn document(models: &[Example], has_token: bool) -> Value {
    let names: Vec<&Value> = models.iter().map(|model| &model.summary["name"]).collect();
    // By name, for requests and for answers.
    let examples = |operation: &str, of_answers: bool| -> Map<String, Value> {
        let of = |model: &Example| {
            let (_, request, answer) = model.calls.iter().find(|call| call.0 == operation)?;
            let name = model.summary["name"].as_str()?.to_owned();
            let (what, value) = match of_answers {
                false => ("a request to", request),
                true => ("the answer of", answer),
            };
            let about =
                json!({"summary": format!("{what} {}", model.summary["name"]), "value": value});
            Some((name, about))
        };
        models.iter().filter_map(of).collect()
    };
    let example = |operation: &str| examples(operation, false);
    let answered = |operation: &str, about: &str, schema: &str| {
        let mut found = answer(about, schema);
        let examples = examples(operation, true);
        if !examples.is_empty() {
            found["content"]["application/json"]["examples"] = examples.into();
        }
        found
    };
    let name = json!({
        "name": "name", "in": "path", "required": true, "description": "The name of a model",
        "schema": {"type": "string", "enum": names},
    });
    let body = |of: &str, examples: Map<String, Value>| {
        let mut content =
            json!({"application/json": {"schema": {"$ref": format!("#/components/schemas/{of}")}}});
        if !examples.is_empty() {
            content["application/json"]["examples"] = examples.into();
        }
        content
    };
    let mut predict_content = body("PredictRequest", example("predict"));
    predict_content["application/x-ndjson"] = json!({
        "schema": {"type": "string", "description": "One example per line; what to say of them stands in the query, as ?proba=true&top=3. Answers come as lines, while the request goes on."},
        "example": "{\"x\": 1}\n{\"x\": 2}\n",
    });
    let flag = |name: &str, about: &str| json!({"name": name, "in": "query", "description": format!("Of a stream: {about}"), "schema": {"type": "boolean"}});
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "lineal",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Predictions and explanations of linear models. Answers are those of `lineal predict --output jsonl` and `lineal explain --output jsonl`, to the bit.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "paths": {
            "/v1/models": {"get": {
                "operationId": "listModels", "summary": "All models, with what each takes",
                "responses": {"200": answer("The models", "Models"), "default": problem()},
            }},
            "/v1/models/{name}": {
                "parameters": [name],
                "get": {
                    "operationId": "describeModel", "summary": "What `lineal inspect --json` shows of a model, and under `served` how it is served",
                    "parameters": [{"name": "top", "in": "query", "description": "Features to list for each class", "schema": {"type": "integer", "minimum": 1}}],
                    "responses": {"200": answer("The model", "Model"), "default": problem()},
                },
            },
            "/v1/models/{name}/predict": {
                "parameters": [name],
                "post": {
                    "operationId": "predict", "summary": "Predict for each example",
                    "parameters": [
                        flag("proba", "probabilities"), flag("scores", "scores of classes"), flag("min_cost", "the answer of least expected cost"), flag("confidence", "how sure each label is: images, graphs, declared structures"),
                        {"name": "top", "in": "query", "description": "Of a stream: the best so many", "schema": {"type": "integer", "minimum": 1}},
                    ],
                    "requestBody": {"required": true, "content": predict_content},
                    "responses": {"200": answered("predict", "One prediction per example, in their order", "Predictions"), "default": problem()},
                },
            },
            "/v1/models/{name}/explain": {
                "parameters": [name],
                "post": {
                    "operationId": "explain", "summary": "Why the model answers as it does",
                    "requestBody": {"required": true, "content": body("ExplainRequest", example("explain"))},
                    "responses": {"200": answered("explain", "Explanations, one per example or per part of one", "Explanations"), "default": problem()},
                },
            },
            "/v1/models/{name}/evaluate": {
                "parameters": [name],
                "post": {
                    "operationId": "evaluate", "summary": "Compare with labelled data",
                    "requestBody": {"required": true, "content": {"application/json": {
                        "schema": {"$ref": "#/components/schemas/EvaluateRequest"},
                        "examples": {"file": {"summary": "a CSV file of two rows, in base64", "value": {"file": {"name": "test.csv", "data": "eCxsYWJlbAoxLGEKMixiCg=="}, "label": "label"}}},
                    }}},
                    "responses": {"200": answer("What `lineal eval --json` prints, and the blocks of `lineal eval --report`", "Evaluation"), "default": problem()},
                },
            },
            "/v1/models/{name}/views": {
                "parameters": [name],
                "get": {
                    "operationId": "views", "summary": "What `lineal train --report` shows, as far as the model's file keeps it: curves, margins and how it did on its test, as HTML",
                    "responses": {"200": answer("The blocks", "Views"), "default": problem()},
                },
            },
            "/healthz": {"get": {"operationId": "alive", "summary": "Whether the process is alive", "security": [], "responses": {"200": {"description": "It is"}}}},
            "/readyz": {"get": {"operationId": "ready", "summary": "Whether requests should be sent: no more once the server is about to end", "security": [], "responses": {"200": {"description": "They should"}, "503": {"description": "They should not"}}}},
            "/metrics": {"get": {"operationId": "metrics", "summary": "Counters in the text format of Prometheus", "responses": {"200": {"description": "Counters", "content": {"text/plain": {"schema": {"type": "string"}}}}}}},
        },
        "components": {"schemas": schemas()},
    });
    if has_token {
        document["components"]["securitySchemes"] =
            json!({"token": {"type": "http", "scheme": "bearer"}});
        document["security"] = json!([{"token": []}]);
    }
    document
}

fn answer(about: &str, schema: &str) -> Value {
    json!({"description": about, "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}}})
}

fn problem() -> Value {
    json!({"description": "What is wrong, and where", "content": {"application/problem+json": {
        "schema": {"$ref": "#/components/schemas/Problem"},
        "example": {"type": "about:blank", "title": "Unprocessable Entity", "status": 422, "detail": "column \"weight\": \"heavy\" is not a number", "pointer": "/rows/0/weight", "instance": "urn:request:5f0c"},
    }}})
}

fn schemas() -> Value {
    let lists: Map<String, Value> = Form::ALL
        .into_iter()
        .map(|form| (form.key().to_owned(), json!({"type": "array", "description": about(form)})))
        .collect();
    let one_list: Vec<Value> =
        Form::ALL.into_iter().map(|form| json!({"required": [form.key()]})).collect();
    let request = |more: Value| {
        let mut properties = lists.clone();
        properties.extend(more.as_object().cloned().unwrap_or_default());
        json!({"type": "object", "properties": properties, "oneOf": one_list, "additionalProperties": false})
    };
    let whole = json!({"type": "integer", "minimum": 1});
    let results = |key: &str| {
        json!({"type": "object", "required": ["model", "version", key], "properties": {
            "model": {"type": "string"},
            "version": {"type": "integer", "description": "Grows when the model's file is replaced"},
            key: {"type": "array", "items": {}},
        }})
    };
    json!({
        "PredictRequest": request(json!({
            "proba": {"type": "boolean", "description": "Add probabilities"},
            "scores": {"type": "boolean", "description": "Add the score of each class"},
            "top": {"allOf": [whole], "description": "Add the best so many classes, or outputs; of documents, list so many"},
            "min_cost": {"type": "boolean", "description": "Take the answer of least expected cost"},
            "confidence": {"type": "boolean", "description": "Of images, graphs and declared structures: how sure each label is"},
        })),
        "ExplainRequest": request(json!({
            "top": {"allOf": [whole], "description": "Reasons to list", "default": 10},
            "class": {"type": "string", "description": "Explain against this class in place of the runner-up"},
            "part": {"allOf": [whole], "description": "Explain this part of each example: a token, a word, a document"},
            "pixel": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2, "description": "Explain this pixel of each image"},
            "words": {"type": "boolean", "description": "Add where in the text the reasons are"},
        })),
        "EvaluateRequest": {"type": "object", "additionalProperties": false, "properties": {
            "file": {"type": "object", "required": ["name", "data"], "description": "A labelled file; its name tells its format", "properties": {"name": {"type": "string"}, "data": {"type": "string", "contentEncoding": "base64"}}},
            "images": {"type": "array", "description": "For models of images: each with the mask that it should have", "items": {"type": "object", "required": ["name", "data", "mask"], "properties": {"name": {"type": "string"}, "data": {"type": "string", "contentEncoding": "base64"}, "mask": {"type": "string", "contentEncoding": "base64"}}}},
            "label": {"type": "string", "description": "The column with the truth, where its name does not tell"},
        }},
        "Evaluation": {"type": "object", "required": ["model", "version", "metrics", "html"], "properties": {
            "model": {"type": "string"}, "version": {"type": "integer"},
            "metrics": {"type": "object", "description": "By name, as `lineal eval --json` has them"},
            "html": {"type": "string", "description": "Tables and drawings"},
        }},
        "Views": {"type": "object", "required": ["training", "evaluation"], "properties": {
            "training": {"type": "string", "description": "Tables and drawings, as HTML"},
            "evaluation": {"type": ["object", "null"], "description": "How the model did on the data that it was tested with", "properties": {
                "source": {"type": "string"}, "html": {"type": "string"},
            }},
        }},
        "Predictions": results("predictions"),
        "Explanations": results("explanations"),
        "Models": {"type": "object", "required": ["models"], "properties": {"models": {"type": "array", "items": {"$ref": "#/components/schemas/Served"}}}},
        "Served": {"type": "object", "required": ["name", "task", "version", "input"], "properties": {
            "name": {"type": "string"}, "task": {"type": "string"}, "version": {"type": "integer"},
            "loaded": {"type": "string", "format": "date-time"}, "bytes": {"type": "integer"},
            "input": {"type": "object", "description": "What a request to it must have"},
        }},
        "Model": {"type": "object", "properties": {"served": {"$ref": "#/components/schemas/Served"}, "certificate": {"type": "string"}}},
        "Problem": {"type": "object", "required": ["title", "status", "detail"], "properties": {
            "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"},
            "pointer": {"type": "string", "description": "Where in the body (RFC 6901)"},
            "instance": {"type": "string", "description": "The id of the request, as in the log"},
        }},
    })
}

fn about(form: Form) -> &'static str {
    match form {
        Form::Rows => "Objects by column, or lists of numbers in the order of the columns",
        Form::Texts => "Texts, for a model of one text",
        Form::Sentences => "Sentences: a text, a list of tokens, or an object with lists by column",
        Form::Images => "PNG, JPEG or PNM files in base64, or objects with name and data",
        Form::Queries => "Lists of documents, or objects with id and documents",
        Form::Examples => "Objects as the training data had them: graphs, declared structures",
    }
}
