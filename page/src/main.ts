// The frame: which model, which view, by the address after #, so that every view has a link.

import "../../crates/cli/src/html/style.css";
import "./page.css";
import { hasToken, list, Problem, setToken, type Served } from "./api";
import { el } from "./dom";
import { inside } from "./inside";
import { calls } from "./calls";
import { show as play } from "./playground";
import { tryIt } from "./try";

const VIEWS: [string, string, (model: Served) => Promise<Node>][] = [
  ["try", "Try", tryIt],
  ["inside", "Look inside", inside],
  ["api", "API", calls],
];

/** What a model of each task does, in words. */
const TASKS: Record<string, string> = {
  classify: "Predicts one class",
  multilabel: "Predicts any number of labels",
  regress: "Predicts a number",
  tag: "Labels each token of a sentence",
  dependency: "Finds the dependency tree of a sentence",
  constituency: "Finds the phrases of a sentence",
  rank: "Puts documents in order",
  segment: "Labels the nodes of a graph",
  declared: "Predicts a declared structure",
};

function doing({ task, input }: Served): string {
  const words = task === "segment" && input.form === "images" ? "Labels each pixel of an image" : (TASKS[task] ?? task);
  const n = input.classes?.length ?? 0;
  const names = { classify: "classes", multilabel: "labels", tag: "labels", dependency: "relations", constituency: "phrase labels", segment: "labels" }[task];
  return n > 0 && names ? `${words} (${n} ${names})` : words;
}

const main = document.querySelector("main")!;
let models: Served[] = [];

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The model and the view that the address names. */
function place(): [Served, number] {
  const [name, view] = location.hash.slice(1).split("/").map(decoded);
  const model = models.find((model) => model.name === name) ?? models[0];
  return [model, Math.max(0, VIEWS.findIndex(([key]) => key === view))];
}

const address = (model: Served, view: number): string => `#${encodeURIComponent(model.name)}/${VIEWS[view][0]}`;

async function show(): Promise<void> {
  const [model, at] = place();
  document.title = `${model.name} · ${VIEWS[at][1]} · lineal`;
  const choice = el("select", { "aria-label": "Model", change: () => (location.hash = address(models[choice.selectedIndex], at)) }, ...models.map((other) => el("option", { selected: other === model }, other.name)));
  const tab = ([, title]: (typeof VIEWS)[number], i: number): HTMLElement => {
    const go = (event: Event): void => {
      const key = (event as KeyboardEvent).key;
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      if (step) location.hash = address(model, (i + step + VIEWS.length) % VIEWS.length);
    };
    return el("a", { role: "tab", id: `tab-${i}`, href: address(model, i), "aria-selected": String(i === at), "aria-controls": "view", tabindex: i === at ? 0 : -1, keydown: go }, title);
  };
  const view = el("div", { id: "view", role: "tabpanel", "aria-labelledby": `tab-${at}`, tabindex: 0 }, el("p", { class: "lead" }, "Loading …"));
  const focused = document.activeElement?.getAttribute("role") === "tab";
  main.replaceChildren(
    el("h1", {}, model.name),
    el("p", { class: "lead" }, `${doing(model)} · version ${model.version}, loaded ${new Date(model.loaded).toLocaleString()}`),
    el("div", { class: "bar-of-tabs" }, models.length > 1 && choice, el("div", { role: "tablist", "aria-label": "Views" }, ...VIEWS.map(tab))),
    view,
    el("footer", {}, "Served by lineal. Nothing on this page leaves the server."),
  );
  if (focused) document.getElementById(`tab-${at}`)?.focus();
  try {
    view.replaceChildren(await VIEWS[at][2](model));
  } catch (error) {
    view.replaceChildren(trouble(error));
  }
  view.dataset.ready = "true";
}

function trouble(error: unknown): Node {
  return el("p", { class: "warn", role: "alert" }, error instanceof Error ? error.message : String(error));
}

/** Asks for the token of the server; `why` the one that was given does not do. */
function askToken(why = ""): void {
  const field = el("input", { type: "password", id: "token", autocomplete: "current-password", required: true });
  const submit = (event: Event): void => {
    event.preventDefault();
    setToken(field.value.trim());
    void start();
  };
  main.replaceChildren(el("h1", {}, "lineal"), el("form", { class: "token", submit }, el("label", { for: "token" }, "Token of the server"), field, el("button", {}, "Enter")), el("p", { class: why ? "warn" : "note", role: "alert" }, why));
  field.focus();
}

async function start(): Promise<void> {
  try {
    const found = await list();
    models = found.models;
    if (found.playground) play(main);
    else await show();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) askToken(hasToken() ? "The server does not accept this token." : "");
    else main.replaceChildren(el("h1", {}, "lineal"), trouble(error));
  }
}

addEventListener("hashchange", () => void start());
void start();
