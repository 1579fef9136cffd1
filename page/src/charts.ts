// Charts, by Observable Plot. Each has its numbers as text for who does not see it.

import * as Plot from "@observablehq/plot";
import { el, rough, signed } from "./dom";

const STYLE = { background: "transparent", color: "var(--ink)", fontSize: "12px", overflow: "visible" };

/** A chart with a name. */
function figure(chart: SVGSVGElement | HTMLElement, name: string): HTMLElement {
  // Plot names the groups of its marks, which have no role to bear a name.
  chart.querySelectorAll("g[aria-label]").forEach((group) => group.removeAttribute("aria-label"));
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", name);
  return el("figure", { class: "chart" }, chart);
}

const room = (names: string[]): number => Math.min(220, 14 + 7 * Math.max(4, ...names.map((name) => Math.min(name.length, 28))));
const short = (name: string): string => (name.length > 28 ? `${name.slice(0, 27)}…` : name);

/** Names with values from 0 on. */
export function bars(values: [string, number][], what: string, isShare: boolean): HTMLElement {
  const all = values.map(([name, value], i) => ({ name: `${i}`, label: short(name), value }));
  const chart = Plot.plot({
    width: 460,
    height: 56 + 24 * all.length,
    marginTop: 8,
    marginBottom: 46,
    marginLeft: room(values.map(([name]) => name)),
    marginRight: 56,
    style: STYLE,
    x: { label: what, labelOffset: 40, ...(isShare ? { domain: [0, 1] } : {}), ticks: 4, nice: true },
    y: { label: null, domain: all.map((d) => d.name), tickFormat: (name: string) => all[Number(name)].label },
    marks: [
      Plot.barX(all, { y: "name", x: "value", fill: (_, i) => (i === 0 ? "var(--c0)" : "var(--soft)"), insetTop: 3, insetBottom: 3, rx: 2 }),
      Plot.text(all, { y: "name", x: "value", text: (d) => rough(d.value), textAnchor: "start", dx: 4, fill: "var(--ink)" }),
      Plot.ruleX([0], { stroke: "var(--line)" }),
    ],
  });
  return figure(chart, values.map(([name, value]) => `${name} ${rough(value)}`).join(", "));
}

/** Names with values for and against. */
export function diverging(values: [string, number][]): HTMLElement {
  const all = values.map(([name, value], i) => ({ name: `${i}`, label: short(name), value }));
  const most = Math.max(1e-12, ...all.map((d) => Math.abs(d.value)));
  const chart = Plot.plot({
    width: 460,
    height: 56 + 22 * all.length,
    marginTop: 8,
    marginBottom: 46,
    marginLeft: room(values.map(([name]) => name)),
    marginRight: 16,
    style: STYLE,
    x: { label: "adds", labelOffset: 40, domain: [-1.3 * most, 1.3 * most], ticks: 4 },
    y: { label: null, domain: all.map((d) => d.name), tickFormat: (name: string) => all[Number(name)].label },
    marks: [
      Plot.barX(all, { y: "name", x: "value", fill: (d) => (d.value > 0 ? "var(--c2)" : "var(--c4)"), insetTop: 3, insetBottom: 3, rx: 2 }),
      Plot.text(all.filter((d) => d.value >= 0), { y: "name", x: "value", text: (d) => signed(d.value), textAnchor: "start", dx: 4, fill: "var(--ink)" }),
      Plot.text(all.filter((d) => d.value < 0), { y: "name", x: "value", text: (d) => signed(d.value), textAnchor: "end", dx: -4, fill: "var(--ink)" }),
      Plot.ruleX([0], { stroke: "var(--soft)" }),
    ],
  });
  return figure(chart, values.map(([name, value]) => `${name} ${signed(value)}`).join(", "));
}

/** Points joined by lines, one line for each name. */
export function lines(points: { x: number; y: number; name: string }[], labels: { x: string; y: string; title: string; log?: boolean; unit?: boolean; diagonal?: boolean }): HTMLElement {
  const names = [...new Set(points.map((point) => point.name))];
  const scale = labels.unit ? { domain: [0, 1] } : {};
  const chart = Plot.plot({
    width: 460,
    height: 300,
    marginLeft: 56,
    marginBottom: 46,
    style: STYLE,
    x: { label: labels.x, labelOffset: 40, ...scale },
    y: { label: labels.y, ...scale, ...(labels.log ? { type: "log" as const } : {}), grid: true },
    color: { domain: names, range: ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)"], legend: names.length > 1 },
    marks: [
      ...(labels.diagonal ? [Plot.line([[0, 0], [1, 1]], { stroke: "var(--soft)", strokeDasharray: "3 3" })] : []),
      Plot.line(points, { x: "x", y: "y", stroke: "name", strokeWidth: 2 }),
      Plot.dot(points.length < 60 ? points : [], { x: "x", y: "y", fill: "name", r: 3 }),
    ],
  });
  return figure(chart as SVGSVGElement, labels.title);
}
