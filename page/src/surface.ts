// The loss surface: the objective over two weights of one score, with the way that training has come.

import type { Json } from "./api";
import { el, rough } from "./dom";

const SIDE = 450;
const BANDS = 14;

/** The names of the scores whose surface there is, in the order of the model's columns. */
export function scoresOf(strategy: string, classes: string[]): string[] {
  if (classes.length === 2) return [`${classes[1]} against ${classes[0]}`];
  if (strategy === "ovo") return classes.flatMap((a, i) => classes.slice(i + 1).map((b) => `${a} against ${b}`));
  return strategy === "ova" ? classes.map((name) => `${name} against all others`) : classes.map((name) => `the score of ${name}`);
}

export function surfaceOf(found: Json, score: string): Node {
  const { reach, squares, values, at, value, trail } = found as { reach: number; squares: number; values: number[]; at: [number, number]; value: number; trail: [number, number][] };
  const least = Math.min(...values, value);
  const most = Math.max(...values);
  // Bands are narrow where it is low: a valley is seen, and not only its slopes.
  const band = (v: number): number => Math.round(BANDS * Math.sqrt(Math.max(0, v - least) / Math.max(1e-300, most - least)));
  const said = `Objective ${rough(value)} at weights ${rough(at[0])} for x and ${rough(at[1])} for y; ${rough(least)} is the lowest of the square, ${rough(most)} the highest.`;
  const canvas = el("canvas", { class: "surface", width: SIDE, height: SIDE, role: "img", "aria-label": `Loss surface of ${score}. ${said}` });
  const context = canvas.getContext("2d")!;
  const size = SIDE / squares;
  values.forEach((v, i) => {
    const k = band(v);
    context.fillStyle = `rgba(36, 103, 201, ${0.72 * (1 - k / BANDS) + 0.04})`;
    // Whole pixels: squares that overlap would show as a net.
    const [left, right] = [i % squares, (i % squares) + 1].map((x) => Math.round(x * size));
    const [top, bottom] = [Math.floor(i / squares) + 1, Math.floor(i / squares)].map((y) => Math.round(SIDE - y * size));
    context.fillRect(left, top, right - left, bottom - top);
  });
  // A line wherever the band changes.
  context.strokeStyle = "rgba(128, 128, 128, 0.55)";
  context.lineWidth = 1;
  context.beginPath();
  values.forEach((v, i) => {
    const [x, y] = [i % squares, Math.floor(i / squares)];
    if (x + 1 < squares && band(values[i + 1]) !== band(v)) {
      context.moveTo((x + 1) * size, SIDE - y * size);
      context.lineTo((x + 1) * size, SIDE - (y + 1) * size);
    }
    if (y + 1 < squares && band(values[i + squares]) !== band(v)) {
      context.moveTo(x * size, SIDE - (y + 1) * size);
      context.lineTo((x + 1) * size, SIDE - (y + 1) * size);
    }
  });
  context.stroke();
  const place = ([a, b]: [number, number]): [number, number] => [((a + reach) / (2 * reach)) * SIDE, SIDE - ((b + reach) / (2 * reach)) * SIDE];
  const way: [number, number][] = [[0, 0], ...trail, at];
  context.strokeStyle = "rgb(200, 98, 10)";
  context.fillStyle = "rgb(200, 98, 10)";
  context.lineWidth = 2;
  context.beginPath();
  way.forEach((weights, i) => (i === 0 ? context.moveTo(...place(weights)) : context.lineTo(...place(weights))));
  context.stroke();
  way.forEach((weights, i) => {
    const isLast = i === way.length - 1;
    context.beginPath();
    context.arc(...place(weights), isLast ? 6 : 2.6, 0, 2 * Math.PI);
    context.fill();
    if (isLast) {
      context.strokeStyle = "#fff";
      context.stroke();
    }
  });
  const note = `${said} Darker is lower; the other weights stay as they are. The line is the way that training took from 0.`;
  return el("figure", { class: "plane" }, el("figcaption", {}, "Loss surface ", el("span", {}, score)), canvas, el("p", { class: "note" }, note));
}
