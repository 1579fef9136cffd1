// Chu–Liu–Edmonds: the best tree over words, by best heads, cycles that are contracted, and cycles that are opened.

import { el, section, svg } from "./dom";
import type { State } from "./playground";

const WORDS = ["root", "John", "saw", "Mary"];
/** scores[head][word], as in McDonald and others (2005). */
const SCORES = [[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]];

interface Step {
  said: string;
  arcs: [number, number, number][];
  cycle: number[];
}

/** The steps on the graph of words: heads chosen, a cycle found, its entry chosen. */
export function steps(scores: number[][]): Step[] {
  const n = scores.length;
  const words = Array.from({ length: n - 1 }, (_, i) => i + 1);
  const all = words.flatMap((d) => scores.map((row, h): [number, number, number] => [h, d, row[d]])).filter(([h, d]) => h !== d);
  const out: Step[] = [{ said: "All arcs with their scores.", arcs: all, cycle: [] }];
  const head = words.map((d) => scores.map((row, h) => (h === d ? -Infinity : row[d]))).map((row) => row.indexOf(Math.max(...row)));
  const chosen = (): [number, number, number][] => words.map((d) => [head[d - 1], d, scores[head[d - 1]][d]]);
  out.push({ said: "The best head of each word.", arcs: chosen(), cycle: [] });
  for (let cycle = find(head); cycle.length > 0; cycle = find(head)) {
    out.push({ said: `${cycle.map((d) => WORDS[d] ?? d).join(" and ")} are each other's heads: a cycle, which is contracted to one node.`, arcs: chosen(), cycle });
    // What it costs to enter the cycle at a word: the arc from outside in place of the one within.
    const entries = cycle.flatMap((d) => scores.map((row, h): [number, number, number] => [h, d, row[d] - scores[head[d - 1]][d]]).filter(([h]) => !cycle.includes(h)));
    out.push({ said: "Arcs into the cycle, each with what is lost or won when it takes the place of the arc within.", arcs: entries, cycle });
    const [h, d] = entries.reduce((a, b) => (b[2] > a[2] ? b : a));
    head[d - 1] = h;
    out.push({ said: `The best entry is from ${WORDS[h] ?? h} to ${WORDS[d] ?? d}: the cycle is opened there.`, arcs: chosen(), cycle: [] });
  }
  const total = chosen().reduce((sum, [, , score]) => sum + score, 0);
  out.push({ said: `No cycle is left: the best tree, with a score of ${total}.`, arcs: chosen(), cycle: [] });
  return out;
}

/** Words that are their own ancestors. */
function find(head: number[]): number[] {
  for (let start = 1; start <= head.length; start++) {
    const seen = [start];
    for (let at = head[start - 1]; at !== 0; at = head[at - 1]) {
      if (at === start) return seen;
      if (seen.includes(at)) break;
      seen.push(at);
    }
  }
  return [];
}

const PLACES: [number, number][] = [[60, 150], [250, 50], [250, 250], [440, 150]];

export function arborescence(state: State, keep: () => void): Node {
  const all = steps(SCORES);
  let at = Math.max(0, Math.min(all.length - 1, Math.round(state.step) || 0));
  const out = el("div");
  const draw = (): void => {
    state.step = at;
    keep();
    const { said, arcs, cycle } = all[at];
    const marks: SVGElement[] = [];
    for (const [h, d, score] of arcs) {
      const [[x0, y0], [x1, y1]] = [PLACES[h], PLACES[d]];
      const length = Math.hypot(x1 - x0, y1 - y0);
      // Bent to its right, so that an arc and its opposite can be told apart.
      const [nx, ny] = [-(y1 - y0) / length, (x1 - x0) / length];
      const [mx, my] = [(x0 + x1) / 2 + 24 * nx, (y0 + y1) / 2 + 24 * ny];
      const [ex, ey] = [x1 + ((mx - x1) / Math.hypot(mx - x1, my - y1)) * 30, y1 + ((my - y1) / Math.hypot(mx - x1, my - y1)) * 30];
      marks.push(svg("path", { d: `M${x0} ${y0}Q${mx} ${my} ${ex} ${ey}`, class: "arc", "marker-end": "url(#tip)" }), svg("text", { x: mx, y: my, "text-anchor": "middle", class: "relation" }, String(score)));
    }
    PLACES.forEach(([x, y], i) => marks.push(svg("rect", { x: x - 28, y: y - 15, width: 56, height: 30, rx: 8, class: cycle.includes(i) ? "cell chosen" : "cell" }), svg("text", { x, y: y + 5, "text-anchor": "middle", class: "word" }, WORDS[i])));
    const tip = svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8Z", class: "tip" }));
    const button = el("button", { type: "button", click: () => ((at = (at + 1) % all.length), draw(), out.querySelector("button")?.focus()) }, at === all.length - 1 ? "Again" : "Next step");
    out.replaceChildren(section("Chu–Liu–Edmonds, step by step", svg("svg", { viewBox: "0 0 500 300", class: "steps", style: "max-width: 560px", role: "img", "aria-label": said }, svg("defs", {}, tip), ...marks), el("p", { role: "status" }, said), button));
  };
  draw();
  return out;
}
