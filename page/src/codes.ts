// Output codes: a matrix of signs, the answers of the binary problems, and the class whose row is nearest.

import { el, section, table } from "./dom";
import type { State } from "./playground";

const CLASSES = ["a", "b", "c", "d"];

/** One-vs-all, one-vs-one (0: not asked), and all ways to split four classes in two. */
const MATRICES: Record<string, number[][]> = {
  "one-vs-all": CLASSES.map((_, k) => CLASSES.map((_, l) => (k === l ? 1 : -1))),
  "one-vs-one": CLASSES.map((_, k) => pairs().map(([a, b]) => (k === a ? 1 : k === b ? -1 : 0))),
  exhaustive: CLASSES.map((_, k) => Array.from({ length: 7 }, (_, l) => (k === 0 ? 1 : ((l + 1) >> (3 - k)) & 1 ? -1 : 1))),
};

function pairs(): [number, number][] {
  return CLASSES.flatMap((_, a) => CLASSES.map((_, b): [number, number] => [a, b])).filter(([a, b]) => a < b);
}

export function codes(state: State, keep: () => void): Node {
  let name = MATRICES[state.code] ? state.code : "exhaustive";
  let answers = state.answers?.length === MATRICES[name][0].length ? state.answers : [];
  const out = el("div");
  const reset = (): void => {
    answers = MATRICES[name][1].map((sign) => sign || 1);
    draw();
  };
  const draw = (): void => {
    [state.code, state.answers] = [name, answers];
    keep();
    const matrix = MATRICES[name];
    // A sign that is 0 agrees by half with either answer.
    const distance = matrix.map((row) => row.reduce((sum, sign, l) => sum + (1 - sign * answers[l]) / 2, 0));
    const least = Math.min(...distance);
    const apart = Math.min(...pairs().map(([a, b]) => matrix[a].filter((sign, l) => sign * matrix[b][l] < 0).length));
    const corrected = Math.floor((apart - 1) / 2);
    const flips = answers.map((answer, l) => {
      const flip = el("button", { type: "button", class: "sign", "aria-label": `Answer of problem ${l + 1}: ${answer > 0 ? "plus" : "minus"}; click to flip`, click: () => ((answers[l] = -answer), draw(), out.querySelectorAll<HTMLElement>(".sign")[l]?.focus()) }, answer > 0 ? "+" : "−");
      return flip;
    });
    const rows = matrix.map((row, k) => [CLASSES[k], ...row.map((sign) => (sign > 0 ? "+" : sign < 0 ? "−" : "·")), distance[k] === least ? `${distance[k]} nearest` : String(distance[k])]);
    const choice = el("select", { id: "matrix", change: () => ((name = choice.value), reset()) }, ...Object.keys(MATRICES).map((key) => el("option", { selected: key === name }, key)));
    out.replaceChildren(section("Code matrix and its decoding", el("div", { class: "actions" }, el("label", { for: "matrix" }, "Code"), choice), table(["class", ...answers.map((_, l) => String(l + 1)), "distance"], [...rows, ["answers", ...flips, ""]], [], "code"), el("p", { class: "note" }, `Codewords differ in at least ${apart} columns, so ${corrected === 1 ? "1 wrong answer is" : `${corrected} wrong answers are`} corrected. Flip answers and see.`)));
  };
  if (answers.length > 0) draw();
  else reset();
  return out;
}
