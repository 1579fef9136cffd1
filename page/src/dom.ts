// Elements without markup: whatever comes from a model is text.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child != null && child !== false));
  return element;
}

export function el<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** A block with a heading. */
export function section(title: string, ...children: Child[]): HTMLElement {
  return el("section", {}, el("h2", {}, title), ...children);
}

/** Four digits that count. */
export function rough(x: number): string {
  if (!Number.isFinite(x)) return String(x);
  if (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e6)) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}

export const signed = (x: number): string => (x > 0 ? "+" : "") + rough(x).replace("-", "−");

/** A table with a head. */
export function table(heads: string[], rows: (string | Node)[][], numeric: boolean[] = [], kindOf = ""): HTMLElement {
  const kind = (i: number) => (numeric[i] ? "n" : "");
  const head = el("tr", {}, ...heads.map((text, i) => el("th", { class: kind(i), scope: "col" }, text)));
  // What has no room beside the others on a phone stands below them, under its head.
  const isLong = (i: number): boolean => kindOf === "words" && i >= heads.length - 2;
  const body = rows.map((row) => el("tr", { role: "row" }, ...row.map((cell, i) => el("td", { class: isLong(i) ? "long" : kind(i), role: "cell", "data-head": heads[i] }, cell))));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": heads.join(", ") }, el("table", kindOf ? { class: kindOf, role: "table" } : {}, el("thead", {}, head), el("tbody", {}, ...body)));
}

const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4"];

/** A colour for the i-th of many. */
export const colour = (i: number): string => `var(${COLOURS[i % COLOURS.length]})`;

/** As the beginning of a sentence. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
