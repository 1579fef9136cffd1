// Charts, by Observable Plot. Each has its numbers as text for who does not see it.

import * as Plot from "@observablehq/plot";
import { el, rough, signed } from "./dom";

const STYLE = { background: "transparent", color: "var(--ink)", fontSize: "12px", overflow: "visible" };

/** A chart with a name. */
function figure(chart: SVGSVGElement | HTMLElement, name: string): HTMLElement {
  // Plot names the groups of its marks, which have no role to bear a name.
  chart.querySelectorAll("g[aria-label]").forEach((group) => group.removeAttribute("aria-label"));
  chart.setAttribute("role", "img");
  // Not larger than it was drawn: its letters are those of the page.
  for (const drawing of [chart, ...chart.querySelectorAll("svg")]) {
    if (drawing.hasAttribute("width")) (drawing as SVGSVGElement).style.maxWidth = `${drawing.getAttribute("width")}px`;
  }
  chart.setAttribute("aria-label", name);
  return el("figure", { class: "chart" }, chart);
}

/** As wide as it may be, or as the window is: letters keep their size on a phone. */
const wide = (most: number): number => Math.max(260, Math.min(most, document.documentElement.clientWidth - 76));
/** Room for names, at most 0.45 of a chart, and names that fit into it. */
const room = (names: string[], width: number): number => Math.min(0.45 * width, 14 + 7 * Math.max(4, ...names.map((name) => name.length)));
const fitting = (room: number) => {
  const most = Math.max(6, Math.floor((room - 14) / 7));
  return (name: string): string => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
};
/** Pixels that the number beside a bar takes. */
const NUMBER = 70;

interface Naming {
  /** Whether names stand above their bars. */
  above: boolean;
  /** Pixels to the left of the chart. */
  room: number;
  short: (name: string) => string;
}

/** Names stand beside their bars, and above them where there is no room on a phone: cut short, one would look like another. */
function naming(values: [string, number][], width: number): Naming {
  const names = values.map(([name]) => name);
  const beside = room(names, width);
  const short = fitting(beside);
  return width < 400 && names.some((name) => short(name) !== name) ? { above: true, room: 8, short: fitting(1.12 * width) } : { above: false, room: beside, short };
}

/** Where a bar and the number beside it are in the strip of its name. */
const strip = (above: boolean) => ({ height: above ? 42 : 24, insets: { insetTop: above ? 20 : 3, insetBottom: 3 }, dy: above ? 8.5 : 0 });

/** Names above their bars. */
const over = <D extends { label: string }>(all: D[], { above }: Naming, marginLeft: number): Plot.Markish[] => (above ? [Plot.text(all, { y: "name", text: "label", frameAnchor: "left", textAnchor: "start", dx: -marginLeft, dy: -11, fill: "var(--soft)", stroke: "var(--card)", strokeWidth: 5 })] : []);
/** Ticks of an axis of so many pixels, whose numbers must not touch. */
const ticks = (pixels: number): number => Math.max(1, Math.min(4, Math.floor(pixels / 60)));

/** Numbers at an axis, short where they are large: 400k. */
const tickFormat = (most: number): ((value: number) => string) | undefined => {
  const [unit, name] = most >= 1e9 ? [1e9, "G"] : most >= 1e6 ? [1e6, "M"] : [1e3, "k"];
  return most >= 1e4 && most < 1e12 ? (value) => (value === 0 ? "0" : `${rough(value / unit).replace("-", "−")}${name}`) : undefined;
};

/** Names with values from 0 on; those that were chosen stand out. */
export function bars(values: [string, number][], what: string, isShare: boolean, chosen: string[] = values.slice(0, 1).map(([name]) => name)): HTMLElement {
  const width = wide(460);
  const names = naming(values, width);
  const { height, insets, dy } = strip(names.above);
  const all = values.map(([name, value], i) => ({ name: `${i}`, full: name, label: names.short(name), value, chosen: chosen.includes(name) }));
  const [least, most] = [Math.min(0, ...all.map((d) => d.value)), Math.max(0, ...all.map((d) => d.value))];
  const left = Math.max(16, names.room) + (least < 0 ? NUMBER : 0);
  const chart = Plot.plot({
    width,
    height: 56 + height * all.length,
    marginTop: 8,
    marginBottom: 46,
    marginLeft: left,
    marginRight: NUMBER,
    style: STYLE,
    x: { label: what, labelOffset: 40, ...(isShare ? { domain: [0, 1] } : { domain: [least, most || (least < 0 ? 0 : 1)] }), ticks: ticks(width - left - NUMBER), tickFormat: tickFormat(Math.max(most, -least)) },
    y: { ...(names.above && { axis: null }), label: null, domain: all.map((d) => d.name), tickFormat: (name: string) => all[Number(name)].label, tickSize: 0, tickPadding: 6 + (least < 0 ? NUMBER : 0) },
    marks: [
      Plot.barX(all, { y: "name", x: "value", title: "full", fill: (d) => (d.chosen ? "var(--c0)" : "var(--soft)"), ...insets, rx: 2 }),
      ...beside(all, (d) => rough(d.value), dy),
      Plot.ruleX([0], { stroke: "var(--line)" }),
      ...over(all, names, left),
    ],
  });
  return figure(chart, values.map(([name, value]) => `${name} ${rough(value)}`).join(", "));
}

/** Numbers at the ends of bars. */
function beside<D extends { value: number }>(all: D[], text: (d: D) => string, dy: number): Plot.Markish[] {
  const on = (of: D[], textAnchor: "start" | "end", dx: number): Plot.Markish => Plot.text(of, { y: "name", x: "value", text, textAnchor, dx, dy, fill: "var(--ink)" });
  return [on(all.filter((d) => d.value >= 0), "start", 4), on(all.filter((d) => d.value < 0), "end", -4)];
}

/** Names with values for and against; `what` they are. */
export function diverging(values: [string, number][], what = "adds", widest = 460): HTMLElement {
  const width = wide(widest);
  const names = naming(values, width);
  const { height, insets, dy } = strip(names.above);
  const all = values.map(([name, value], i) => ({ name: `${i}`, full: name, label: names.short(name), value }));
  const most = Math.max(1e-12, ...all.map((d) => Math.abs(d.value)));
  // A side without a bar needs no room.
  const [left, right] = [all.some((d) => d.value < 0), all.some((d) => d.value > 0)];
  const [marginLeft, marginRight] = [names.room + (left ? NUMBER : 8), right ? NUMBER : 8];
  const chart = Plot.plot({
    width,
    height: 56 + (height - 2) * all.length,
    marginTop: 8,
    marginBottom: 46,
    marginLeft,
    marginRight,
    style: STYLE,
    x: { label: what, labelOffset: 40, domain: [left ? -most : 0, right ? most : 0], ticks: ticks(width - marginLeft - marginRight), tickFormat: tickFormat(most) },
    y: { ...(names.above && { axis: null }), label: null, domain: all.map((d) => d.name), tickFormat: (name: string) => all[Number(name)].label, tickSize: 0, tickPadding: left ? NUMBER : 8 },
    marks: [
      Plot.barX(all, { y: "name", x: "value", title: "full", fill: (d) => (d.value > 0 ? "var(--c2)" : "var(--c4)"), ...insets, rx: 2 }),
      ...beside(all, (d) => signed(d.value), dy),
      Plot.ruleX([0], { stroke: "var(--soft)" }),
      ...over(all, names, marginLeft),
    ],
  });
  return figure(chart, values.map(([name, value]) => `${name} ${signed(value)}`).join(", "));
}

/** Points joined by lines, one line for each name. */
export function lines(points: { x: number; y: number; name: string }[], labels: { x: string; y: string; title: string; log?: boolean; unit?: boolean; diagonal?: boolean }): HTMLElement {
  const names = [...new Set(points.map((point) => point.name))];
  const scale = labels.unit ? { domain: [0, 1] } : {};
  const chart = Plot.plot({
    width: wide(460),
    height: 300,
    marginLeft: 56,
    marginBottom: 46,
    style: STYLE,
    x: { label: labels.x, labelOffset: 40, ...scale },
    y: { label: labels.y, ...scale, ...(labels.log ? { type: "log" as const, ticks: 5, tickFormat: (value: number) => (Number.isInteger(Math.round(1e9 * Math.log10(value)) / 1e9) ? value.toExponential(0).replace("e+", "e") : "") } : {}), grid: true },
    color: { domain: names, range: ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)"], legend: names.length > 1 },
    marks: [
      ...(labels.diagonal ? [Plot.line([[0, 0], [1, 1]], { stroke: "var(--soft)", strokeDasharray: "3 3" })] : []),
      Plot.line(points, { x: "x", y: "y", stroke: "name", strokeWidth: 2 }),
      Plot.dot(points.length < 60 ? points : [], { x: "x", y: "y", fill: "name", r: 3 }),
    ],
  });
  return figure(chart as SVGSVGElement, labels.title);
}
