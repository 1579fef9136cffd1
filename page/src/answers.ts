// The answer of each task, drawn.

import { explain, type Json, type Served } from "./api";
import { bars, diverging } from "./charts";
import { colour, el, rough, section, signed, table } from "./dom";
import { arcs, tree, wordsOf } from "./trees";

export interface Shown {
  model: Served;
  prediction: Json;
  reasons: Json[];
  example: unknown;
  rival?: string;
  choose: (rival: string) => void;
}

export function answerOf(shown: Shown): Node {
  switch (shown.model.task) {
    case "classify":
    case "multilabel":
    case "regress":
      return rows(shown);
    case "tag":
      return tags(shown);
    case "dependency":
      return dependency(shown);
    case "constituency":
      return constituency(shown);
    case "rank":
      return ranking(shown);
    case "segment":
      return "image" in shown.prediction ? mask(shown) : graph(shown);
    default:
      return declared(shown);
  }
}

function rows({ model, prediction, reasons, rival, choose }: Shown): Node {
  const out = el("div", { class: "grid" });
  if (model.task === "regress") {
    out.append(section("Prediction", el("p", { class: "big" }, full(prediction.label))));
  } else {
    const best = (prediction.top ?? []) as [string, number][];
    const names = model.task === "multilabel" ? (prediction.labels as string[]) : [prediction.label as string];
    const what = model.input.proba ? "probability" : "score";
    const headline = names.length > 0 ? names.join(", ") : "no label";
    out.append(section(model.task === "multilabel" ? "Labels" : "Class", el("p", { class: "big" }, headline), bars(best, what, model.input.proba, names), el("p", { class: "note" }, `${counted(best.length, model.input.classes?.length ?? best.length)}, by ${what}.`)));
  }
  for (const reason of reasons) {
    const title = reason.label === undefined ? "Why this number" : reason.against ? `Why ${reason.label} and not ${reason.against}` : `Why ${reason.label}`;
    const features = (reason.features as Json[]).map((f): [string, number] => [f.name, f.contribution]);
    if (reason.rest?.features > 0) features.push([`the other ${reason.rest.features}`, reason.rest.contribution]);
    if (reason.bias) features.push(["bias", reason.bias]);
    const words = ((reason.words ?? []) as Json[]).map((cell) => lit(cell));
    if (words.length > 0) words.push(legend(reason));
    const lead = el("p", { class: "note" }, leadOf(reason));
    out.append(section(title, model.task === "classify" && (model.input.classes?.length ?? 0) > 2 && rivals(model, reason, rival, choose), ...words, diverging(features), lead));
  }
  return out;
}

/** A number for people: as many digits as weights in single precision mean. */
const full = (x: number): string => Number(x.toPrecision(7)).toLocaleString("en", { maximumFractionDigits: 20 }).replace("-", "−");

const counted = (n: number, all: number): string => (n === all ? `All ${all}` : `The best ${n} of ${all}`);

/** What the bars come to. */
function leadOf(reason: Json): string {
  if (reason.label === undefined) return `Together ${full(reason.lead)}.`;
  return reason.against ? `It leads by ${rough(reason.lead)}: what the features above add up to.` : `Its score is ${rough(reason.lead).replace("-", "−")}: what the features above add up to.`;
}

function rivals(model: Served, reason: Json, rival: string | undefined, choose: (rival: string) => void): Node {
  const others = (model.input.classes ?? []).filter((name) => name !== reason.label);
  const select = el("select", { id: "rival", change: () => choose(select.value) }, el("option", { value: "", selected: !rival }, "the runner-up"), ...others.map((name) => el("option", { value: name, selected: name === rival }, name)));
  return el("p", { class: "rival" }, el("label", { for: "rival" }, "Against "), select);
}

/** What the two colours mean. */
function legend({ label, against }: Json): HTMLElement {
  const [plus, minus] = label === undefined ? ["raises the number", "lowers it"] : [`speaks for ${label}`, against ? `speaks for ${against}` : `speaks against ${label}`];
  return el("p", { class: "keys squares" }, el("span", {}, el("i", { style: "background: var(--c2)" }), plus), el("span", {}, el("i", { style: "background: var(--c4)" }), minus));
}

/** A text whose words are coloured by what they added. */
function lit(cell: Json): HTMLElement {
  const parts = cell.parts as [string, number][];
  const most = Math.max(1e-300, ...parts.map(([, amount]) => Math.abs(amount)));
  const marks = parts.map(([text, amount]) => {
    if (amount === 0) return document.createTextNode(text);
    // Not so strong that the word cannot be read.
    const much = Math.round((45 * Math.abs(amount)) / most);
    return el("mark", { class: amount > 0 ? "for" : "against", style: `--much: ${much}`, title: signed(amount) }, text);
  });
  return el("p", { class: "text" }, ...marks);
}

/** Labels as coloured spans: those of BIO and BIOES are joined. */
function tags({ model, prediction, reasons }: Shown): Node {
  if (prediction.text !== undefined) return texts(prediction, reasons);
  const labels = prediction.labels as string[];
  const tokens = (prediction.tokens as string[] | undefined) ?? labels.map((_, i) => `token ${i + 1}`);
  const proba = prediction.proba as Json[] | undefined;
  const types = [...new Set(model.input.classes?.map(kind) ?? [])].filter((name) => name !== "O");
  const line = el("p", { class: "spans" });
  for (let i = 0; i < tokens.length; ) {
    const type = kind(labels[i]);
    let end = i + 1;
    while (end < tokens.length && type !== "O" && /^[IE]-/.test(labels[end]) && kind(labels[end]) === type) end++;
    const words = tokens.slice(i, end).join(" ");
    const about = proba && alternatives(tokens.slice(i, end), proba.slice(i, end));
    const sure = proba && Math.min(...labels.slice(i, end).map((label, k) => (proba[i + k] as Record<string, number>)[label] ?? 0));
    if (type === "O") line.append(hinted(el("span", { class: "plain" }, words), about), " ");
    else line.append(hinted(el("span", { class: "span", style: `--tone: ${colour(types.indexOf(type))}` }, words, el("small", {}, sure === undefined ? type : `${type} ${sure.toFixed(2)}`)), about), " ");
    i = end;
  }
  const cells = tokens.map((word, i) => [word, labels[i], proba ? best(proba[i]) : "", why(reasons.find((reason) => reason.token === i + 1))]);
  const sure = prediction.probability === undefined ? null : el("p", { class: "note" }, `Probability of the whole: ${rough(prediction.probability)}`);
  return el("div", {}, section("Labels", line, sure), section("Token by token", table(["token", "label", "alternatives", "what decided"], cells, [], "words")));
}

/** For each word its three likeliest labels, with bars. */
function alternatives(words: string[], proba: Json[]): Node[] {
  return words.map((word, k) => {
    const all = Object.entries(proba[k] as Record<string, number>).sort((a, b) => b[1] - a[1]).slice(0, 3);
    const rows = all.map(([label, p]) => el("span", { class: "alternative" }, el("span", {}, label), el("i", { style: `--share: ${p}` }), el("span", {}, p.toFixed(3))));
    return el("span", { class: "word-of-hint" }, el("b", {}, word), ...rows);
  });
}

let n_hints = 0;

/** Something that says more where the mouse rests on it, or the focus is. */
function hinted(element: HTMLElement, about: Node[] | undefined): HTMLElement {
  if (!about) return element;
  const hint = el("span", { class: "hint", role: "tooltip", id: `hint-${n_hints++}` }, ...about);
  element.append(hint);
  element.tabIndex = 0;
  element.setAttribute("aria-describedby", hint.id);
  // It does not reach over the edge of the window.
  const place = (): void => {
    hint.style.left = "0";
    const over = hint.getBoundingClientRect().right - document.documentElement.clientWidth + 12;
    if (over > 0) hint.style.left = `${-over}px`;
  };
  element.addEventListener("mouseenter", place);
  element.addEventListener("focus", place);
  return element;
}

const kind = (label: string): string => label.replace(/^[BIESLU]-/, "");

function best(proba: Json): string {
  const all = Object.entries(proba as Record<string, number>).sort((a, b) => b[1] - a[1]);
  return all.slice(0, 3).map(([label, p]) => `${label} ${p.toFixed(3)}`).join(", ");
}

function why(reason: Json | undefined): string {
  const first = (reason?.reasons as Json[] | undefined)?.slice(0, 2) ?? [];
  return first.map((r) => `${r.what} ${signed((r.for_label ?? 0) - (r.for_against ?? 0))}`).join(", ");
}

/** A text with spans of characters, and what decided the label of each of its words. */
function texts(prediction: Json, reasons: Json[]): Node {
  const text = [...(prediction.text as string)];
  const found = (Object.values(prediction).find((value) => Array.isArray(value) && value.every((s) => "start" in s || Array.isArray(s))) ?? []) as any[];
  const spans = found.map((s) => (Array.isArray(s) ? { start: s[0], end: s[1], label: s[2] } : s));
  const types = [...new Set(spans.map((s) => s.label as string))];
  const line = el("p", { class: "spans" });
  let at = 0;
  for (const span of spans) {
    const sure = span.probability === undefined ? span.label : `${span.label} ${rough(span.probability)}`;
    line.append(text.slice(at, span.start).join(""), el("span", { class: "span", style: `--tone: ${colour(types.indexOf(span.label))}`, title: sure, tabindex: 0 }, text.slice(span.start, span.end).join(""), el("small", {}, span.probability === undefined ? span.label : `${span.label} ${Number(span.probability).toFixed(2)}`)));
    at = span.end;
  }
  line.append(text.slice(at).join(""));
  // Runs of letters and digits, and every other character by itself.
  const words = (prediction.text as string).match(/[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
  const cells = reasons.map((reason) => {
    const others = [[reason.label, reason.proba], [reason.against, reason.against_proba]].filter(([, p]) => typeof p === "number");
    return [(words.length === reasons.length && words[reason.token - 1]) || `token ${reason.token}`, String(reason.label), others.map(([label, p]) => `${label} ${(p as number).toFixed(3)}`).join(", "), why(reason)];
  });
  return el("div", {}, section("Spans", line, el("p", { class: "note" }, spans.length > 0 ? `${spans.length} found.` : "No span was found.")), cells.length > 0 && section("Token by token", table(["token", "label", "alternatives", "what decided"], cells, [], "words")));
}

function dependency({ prediction, reasons }: Shown): Node {
  const { tokens, heads, relations, proba } = prediction as { tokens: string[]; heads: number[]; relations: string[]; proba?: Json[] };
  const name = (head: number): string => (head === 0 ? "root" : tokens[head - 1]);
  const cells = tokens.map((word, i) => {
    const others = proba ? Object.entries(proba[i] as Record<string, number>).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([head, p]) => `${name(Number(head))} ${p.toFixed(3)}`).join(", ") : "";
    return [String(i + 1), word, name(heads[i]), relations[i], others, why2(reasons.find((reason) => reason.word === i + 1))];
  });
  return el("div", {}, section("Dependency tree", el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Dependency tree" }, arcs(tokens, heads, relations))), section("Word by word", table(["", "word", "head", "relation", "heads by probability", "what decided"], cells, [], "words")));
}

function why2(reason: Json | undefined): string {
  const first = (reason?.reasons as Json[] | undefined)?.slice(0, 2) ?? [];
  return first.map((r) => `${r.feature}${r.part ? ` (${String(r.part).replace(/^arcs: /, "")})` : ""} ${signed(r.amount ?? 0)}`).join(", ");
}

function constituency({ prediction, reasons }: Shown): Node {
  return el("div", {}, section("Tree", el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tree" }, tree(prediction.tree as string)), el("details", {}, el("summary", {}, "In brackets"), el("pre", { tabindex: 0 }, prediction.tree))), reasonsOf(reasons, (reason) => ofPhrase(reason, wordsOf(prediction.tree as string))));
}

/** `NP “the old dog”: probability 0.98, ahead of ADJP “old dog” by 1.5`. */
function ofPhrase(reason: Json, words: string[]): string {
  const say = ({ label, start, end }: Json): string => {
    const text = words.slice(start - 1, end);
    return `${label} “${text.length > 6 ? [...text.slice(0, 3), "…", ...text.slice(-2)].join(" ") : text.join(" ")}”`;
  };
  const phrase = reason.phrase as Json | undefined;
  if (!phrase || phrase.label === undefined) return headline(reason);
  const others = ([reason.against ?? []].flat() as Json[]).filter((other) => other.label !== undefined);
  const first = others.slice(0, 2).map(say).join(" and ") + (others.length > 2 ? ` and ${others.length - 2} more` : "");
  const sure = reason.proba === undefined || reason.proba === null ? "" : `: probability ${rough(reason.proba)}`;
  return `${say(phrase)}${sure}${first ? `, ahead of ${first}` : typeof reason.lead === "number" ? ", ahead" : ""}${typeof reason.lead === "number" ? ` by ${rough(reason.lead)}` : ""}`;
}

function ranking({ prediction, reasons, example }: Shown): Node {
  const documents = (Array.isArray(example) ? example : (example as Json).documents) as unknown[];
  const order = prediction.order as number[];
  const scores = prediction.scores as number[];
  const cells = order.map((d, i) => {
    const reason = reasons.find((reason) => reason.document === d);
    const first = (reason?.reasons as Json[] | undefined)?.slice(0, 2) ?? [];
    const text = JSON.stringify(documents[d - 1]);
    return [String(i + 1), `line ${d}`, text.length > 90 ? `${text.slice(0, 89)}…` : text, first.map((r) => `feature ${r.feature} ${signed(r.lead)}`).join(", ")];
  });
  const best = order.map((d): [string, number] => [`line ${d}`, scores[d - 1]]);
  return el("div", {}, section("Order", table(["rank", "document", "features", "ahead of the next by"], cells, [true], "words")), section("Scores", bars(best.slice(0, 30), "score", false)));
}

function mask({ prediction, example, model, reasons }: Shown): Node {
  const data = (example as Json).data as string;
  const size = { width: prediction.width, height: prediction.height, class: "picture" };
  const canvas = el("canvas", { ...size, role: "img", "aria-label": "The image with its labels as colours" });
  void paint(canvas, data, prediction.mask as string, model.input.masks ?? []);
  const shares = Object.entries(prediction.shares as Record<string, number>).sort((a, b) => b[1] - a[1]);
  const sure = prediction.confidence === undefined ? null : el("p", { class: "note" }, `Mean confidence ${rough(prediction.confidence)}`);
  const keys = el("p", { class: "keys squares" }, ...(model.input.classes ?? []).map((label, i) => el("span", {}, el("i", { style: `background: ${i === 0 ? "var(--card)" : PAINT[(i - 1) % PAINT.length]}` }), label)));
  return el("div", {}, el("div", { class: "grid" }, section("Labels", canvas, keys), section("Shares", bars(shares, "share", true), sure)), pixel(model, example, prediction, reasons, canvas));
}

/** Why a pixel has its label: the least sure one first, then any that is clicked or named. */
function pixel(model: Served, example: unknown, { width, height }: Json, reasons: Json[], canvas: HTMLCanvasElement): Node {
  const shown = el("div", { "aria-live": "polite" });
  const field = (name: string, most: number): HTMLInputElement => el("input", { type: "number", id: `pixel-${name}`, min: 0, max: most - 1, value: 0 });
  const [x, y] = [field("x", width), field("y", height)];
  const show = (reason: Json | undefined): void => {
    if (!reason) return shown.replaceChildren(el("p", { class: "note" }, "No pixel can be explained."));
    [x.value, y.value] = [String(reason.node % width), String(Math.floor(reason.node / width))];
    const list = (reason.reasons as Json[]).map((r): [string, number] => [`${r.feature} (${r.part})`, r.amount as number]);
    if (reason.rest) list.push(["all others", reason.rest as number]);
    const lead = `Label ${reason.label}${reason.against === null ? "" : `, ahead of ${reason.against} by ${rough(reason.lead)}`}${reason.confidence === undefined ? "" : `; confidence ${rough(reason.confidence)}`}`;
    shown.replaceChildren(el("p", {}, lead), diverging(list, "adds", 760));
  };
  const ask = async (px: number, py: number): Promise<void> => {
    try {
      show((await explain(model.name, { images: [example], pixel: [px, py], top: 10 }))[0]);
    } catch (error) {
      shown.replaceChildren(el("p", { class: "warn", role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
  };
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (far: number, size: number, n: number): number => Math.max(0, Math.min(n - 1, Math.floor((far / size) * n)));
    void ask(at(event.clientX - box.left, box.width, width), at(event.clientY - box.top, box.height, height));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void ask(Number(x.value), Number(y.value));
  };
  show(reasons[0]);
  const fields = el("form", { class: "actions", submit }, el("label", { for: "pixel-x" }, "Column"), x, el("label", { for: "pixel-y" }, "Row"), y, el("button", {}, "Explain"));
  return section("Why a pixel has its label", el("p", { class: "note" }, "The least sure pixel first. Click on the image, or name another one."), fields, shown);
}

const PAINT = ["rgb(230 60 60)", "rgb(50 120 220)", "rgb(60 170 80)", "rgb(240 170 40)", "rgb(150 90 200)", "rgb(40 180 190)", "rgb(220 100 170)", "rgb(130 110 70)"];

/** What a canvas shows of a value that labels have in masks: `#ff8000`, or a grey of 8 bits, or of 16 if some label needs them. */
function shownAs(value: string, all: string[]): number {
  if (value.startsWith("#")) return parseInt(value.slice(1), 16);
  const grey = all.some((other) => Number(other) > 255) ? Math.round(Number(value) / 257) : Number(value);
  return grey * 0x10101;
}

/** The image with its labels as colours; the first label has none. */
async function paint(canvas: HTMLCanvasElement, image: string, mask: string, masks: string[]): Promise<void> {
  const load = (src: string): Promise<HTMLImageElement> =>
    new Promise((done, failed) => {
      const picture = new Image();
      picture.onload = () => done(picture);
      picture.onerror = () => failed(new Error("not an image that browsers show"));
      picture.src = src;
    });
  const context = canvas.getContext("2d")!;
  const { width, height } = canvas;
  context.drawImage(await load(`data:image/png;base64,${mask}`), 0, 0);
  const values = context.getImageData(0, 0, width, height);
  const labels = new Map(masks.map((value, i) => [shownAs(value, masks), i]));
  const value = (i: number): number => (values.data[i] << 16) | (values.data[i + 1] << 8) | values.data[i + 2];
  context.clearRect(0, 0, width, height);
  await load(image).then((picture) => context.drawImage(picture, 0, 0, width, height)).catch(() => undefined);
  const picture = context.getImageData(0, 0, width, height);
  for (let i = 0; i < values.data.length; i += 4) {
    const label = labels.get(value(i)) ?? 0;
    picture.data[i + 3] = 255;
    if (label === 0) continue;
    const rgb = PAINT[(label - 1) % PAINT.length].match(/\d+/g)!.map(Number);
    for (let c = 0; c < 3; c++) picture.data[i + c] = Math.round(picture.data[i + c] * 0.55 + rgb[c] * 0.45);
  }
  context.putImageData(picture, 0, 0);
}

function graph({ prediction, reasons }: Shown): Node {
  const labels = prediction.labels as string[];
  const sure = prediction.confidence as number[] | undefined;
  return el("div", {}, section("Labels of nodes", table(["node", "label", "confidence"], labels.map((label, i) => [String(i), label, sure ? rough(sure[i]) : ""])), el("p", { class: "note" }, "Nodes are counted from 0, as edges name them.")), reasonsOf(reasons, ofNode));
}

/** `Node 7: night and not day, ahead by 0.6`. Nodes are counted from 0, as edges name them. */
function ofNode(reason: Json): string {
  const sure = typeof reason.confidence === "number" ? `; confidence ${rough(reason.confidence)}` : "";
  return `Node ${reason.node - 1}: ${decision(reason)}${sure}`;
}

function decision(reason: Json): string {
  const against = reason.against === null || reason.against === undefined ? "" : ` and not ${reason.against}`;
  return `${reason.label}${against}${typeof reason.lead === "number" ? `, ahead by ${rough(reason.lead)}` : ""}`;
}

const lines = (rules: number[]): string => (rules.length === 1 ? `line ${rules[0]}` : `lines ${rules.join(", ")}`);

/** `Variable 2 (item): y and not x, ahead by 0.2; without the rule in line 2 it would be x`. */
function ofVariable(reason: Json): string {
  const rules = (reason.rules ?? []) as number[];
  const without = rules.length > 0 ? `; without the ${rules.length === 1 ? "rule" : "rules"} in ${lines(rules)} it would be ${reason.without_rules}` : "";
  return `Variable ${reason.variable} (${reason.kind}): ${decision(reason)}${without}`;
}

/** The variables of a declared structure with their labels, and the answer as it came. */
function declared({ prediction, reasons }: Shown): Node {
  const cells = reasons.map((r) => [String(r.variable), String(r.kind), String(r.label), r.against === null ? "" : `${r.against}${r.lead === null ? "" : ` by ${rough(r.lead)}`}`, (r.rules as number[]).length > 0 ? lines(r.rules as number[]) : ""]);
  const answer = el("pre", { tabindex: 0 }, JSON.stringify(prediction, null, 1));
  return el("div", {}, section("Answer", table(["variable", "kind", "label", "ahead of", "rules that decided"], cells, [], "words"), el("p", { class: "note" }, prediction.slack === 0 ? "Proven to be the best answer that keeps the rules." : `No answer that keeps the rules is better by more than ${rough(prediction.slack ?? 0)}.`), el("details", {}, el("summary", {}, "As JSON"), answer)), reasonsOf(reasons, ofVariable));
}

/** Reasons of any structure: what was decided, and a bar for each weight that spoke for or against it. */
function reasonsOf(reasons: Json[], head: (reason: Json) => string = headline): Node {
  if (reasons.length === 0) return document.createTextNode("");
  const items = reasons.slice(0, 50).map((reason, i) => {
    const list = ((reason.reasons ?? []) as Json[]).map((r): [string, number] => [String(r.feature ?? r.what ?? "") + (r.part ? ` (${r.part})` : ""), (r.amount ?? r.lead ?? (r.for_label ?? 0) - (r.for_against ?? 0)) as number]);
    if (reason.rest) list.push(["all others", reason.rest as number]);
    const shown = list.filter(([, amount]) => amount !== 0);
    return el("details", i === 0 ? { open: true } : {}, el("summary", {}, head(reason)), shown.length > 0 ? diverging(shown, "adds", 760) : el("p", { class: "note" }, "No weight speaks for or against it."));
  });
  return section("What decided", ...items);
}

/** `variable 2, label y against x, lead 1.5`. */
function headline(reason: Json): string {
  const say = (value: unknown): string => {
    if (typeof value === "number") return rough(value);
    if (Array.isArray(value)) return value.map(say).join(", ");
    if (value && typeof value === "object") {
      const { label, start, end } = value as Json;
      return label === undefined ? JSON.stringify(value) : `${label} of words ${start}–${end}`;
    }
    return String(value);
  };
  const hidden = ["reasons", "rest", "example", "sentence", "image"];
  const shown = Object.entries(reason).filter(([key, value]) => !hidden.includes(key) && value !== null && !(Array.isArray(value) && value.length === 0));
  return shown.map(([key, value]) => `${key.replaceAll("_", " ")} ${say(value)}`).join(", ");
}
