// Viterbi: the best way through a lattice of labels, filled in column by column.

import { el, section, svg } from "./dom";
import type { State } from "./playground";

const WORDS = ["the", "old", "dog", "barks"];
const LABELS = ["DET", "ADJ", "NOUN", "VERB"];
const EMIT = [[3, 0, 0, -1], [0, 2, 1.5, 0], [-1, 0, 3, 1], [-1, -1, 1, 2.5]];
const FOLLOW = [[-2, 1, 2, -2], [-1, 0, 2, -1], [-1, -1, 0, 1.5], [0.5, 0, 0, -1]];

/** The best score of each label at each place, and from where it comes. */
export function viterbi(emit: number[][], follow: number[][]): { best: number[][]; from: number[][] } {
  const best = [emit[0].slice()];
  const from: number[][] = [emit[0].map(() => -1)];
  for (let t = 1; t < emit.length; t++) {
    const scores = emit[t].map((own, l) => best[t - 1].map((before, k) => before + follow[k][l] + own));
    from.push(scores.map((row) => row.indexOf(Math.max(...row))));
    best.push(scores.map((row) => Math.max(...row)));
  }
  return { best, from };
}

export function lattice(state: State, keep: () => void): Node {
  const { best, from } = viterbi(EMIT, FOLLOW);
  const n = WORDS.length;
  const path = [best[n - 1].indexOf(Math.max(...best[n - 1]))];
  for (let t = n - 1; t > 0; t--) path.unshift(from[t][path[0]]);
  let step = Math.max(1, Math.min(n + 1, Math.round(state.column) || 1));
  const out = el("div");
  const x = (t: number): number => 90 + 140 * t;
  const y = (l: number): number => 60 + 60 * l;
  const draw = (): void => {
    state.column = step;
    keep();
    const marks: SVGElement[] = [];
    WORDS.forEach((word, t) => marks.push(svg("text", { x: x(t), y: 24, "text-anchor": "middle", class: "word" }, word)));
    LABELS.forEach((label, l) => marks.push(svg("text", { x: 12, y: y(l) + 4, class: "relation" }, label)));
    for (let t = 0; t < Math.min(step, n); t++) {
      LABELS.forEach((_, l) => {
        if (t > 0) {
          const k = from[t][l];
          const chosen = step > n && path[t] === l && path[t - 1] === k;
          marks.push(svg("path", { d: `M${x(t - 1) + 26} ${y(k)}L${x(t) - 26} ${y(l)}`, class: chosen ? "arc chosen" : "arc" }));
        }
      });
      LABELS.forEach((_, l) => {
        const chosen = step > n && path[t] === l;
        marks.push(svg("rect", { x: x(t) - 26, y: y(l) - 14, width: 52, height: 28, rx: 6, class: chosen ? "cell chosen" : "cell" }), svg("text", { x: x(t), y: y(l) + 4, "text-anchor": "middle", class: "word" }, best[t][l].toFixed(1)));
      });
    }
    const said = step > n ? `The best labels: ${path.map((l, t) => `${WORDS[t]} ${LABELS[l]}`).join(", ")}, with a score of ${best[n - 1][path[n - 1]].toFixed(1)}.` : `Each cell is the best score of a sequence that ends there: the highest over labels before it of their score, plus how well the two follow, plus how well the word fits. ${step} of ${n} words.`;
    const button = el("button", { type: "button", click: () => ((step = step > n ? 1 : step + 1), draw(), out.querySelector("button")?.focus()) }, step > n ? "Again" : step === n ? "Walk back" : "Next word");
    const box = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Lattice" }, svg("svg", { viewBox: `0 0 ${x(n)} ${y(LABELS.length)}`, style: `width: ${x(n)}px; max-width: none`, role: "img", "aria-label": said }, ...marks));
    out.replaceChildren(section("A Viterbi lattice that fills in", box, el("p", { role: "status" }, said), button));
    // Where there is no room for all of it, the column that was filled last is seen.
    requestAnimationFrame(() => (box.scrollLeft = x(Math.min(step, n) - 1) + 50 - box.clientWidth));
  };
  draw();
  return out;
}
