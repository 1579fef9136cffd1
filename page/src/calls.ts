// The API, as /openapi.json describes it: what to send where, with an example that can be sent from here.

import { openapi, parsed, predict, explain, words, type Json, type Served } from "./api";
import { el, section } from "./dom";

export async function calls(model: Served): Promise<Node> {
  const document = await openapi();
  const out = el("div", {}, el("p", { class: "note above" }, "Described for programs at ", el("a", { href: "openapi.json" }, "/openapi.json"), ", in OpenAPI ", document.openapi, "."));
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    for (const [method, about] of Object.entries(methods)) {
      if (method === "parameters") continue;
      out.append(operation(model, path, method, about, document));
    }
  }
  return out;
}

function operation(model: Served, path: string, method: string, about: Json, document: Json): Node {
  const block = section((about.summary as string).replaceAll("`", ""), el("p", {}, el("code", {}, `${method.toUpperCase()} ${path}`)));
  const schema = about.requestBody?.content?.["application/json"]?.schema?.$ref?.split("/").pop();
  const properties = document.components.schemas[schema]?.properties as Record<string, Json> | undefined;
  if (properties) {
    const items = Object.entries(properties).map(([name, property]) => el("li", {}, el("code", {}, name), ` ${property.description ?? ""}`));
    block.append(el("details", {}, el("summary", {}, "Fields of the request"), el("ul", {}, ...items)));
  }
  const example = about.requestBody?.content?.["application/json"]?.examples?.[model.name]?.value;
  if (example) {
    const id = `body-${about.operationId}`;
    const field = el("textarea", { id, rows: 6, spellcheck: "false" });
    field.value = JSON.stringify(example, null, 1);
    const answer = el("pre", { "aria-live": "polite", tabindex: 0, hidden: true });
    const send = async (): Promise<void> => {
      const call = about.operationId === "predict" ? predict : explain;
      answer.hidden = false;
      try {
        answer.textContent = JSON.stringify(await call(model.name, parsed(field.value, "The body")), null, 1);
      } catch (error) {
        answer.textContent = words(error);
      }
    };
    block.append(el("div", { class: "field" }, el("label", { for: id }, "Body"), field), el("div", { class: "actions" }, el("button", { type: "button", click: () => void send() }, "Send")), answer);
  }
  return block;
}
