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

/** The value at a place between the middles of four squares, which lie at whole numbers. */
function between(values: number[], squares: number, x: number, y: number): number {
  const [u, v] = [x, y].map((at) => Math.max(0, Math.min(squares - 1, at)));
  const [i, j] = [Math.min(squares - 2, Math.floor(u)), Math.min(squares - 2, Math.floor(v))];
  const row = (at: number): number => values[at] + (u - i) * (values[at + 1] - values[at]);
  const [low, high] = [row(j * squares + i), row((j + 1) * squares + i)];
  return low + (v - j) * (high - low);
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
  const bands = Array.from({ length: SIDE * SIDE }, (_, i) => band(between(values, squares, ((i % SIDE) + 0.5) / size - 0.5, (SIDE - Math.floor(i / SIDE) - 0.5) / size - 0.5)));
  const image = context.createImageData(SIDE, SIDE);
  bands.forEach((k, i) => {
    // A line wherever the band changes.
    const isLine = ((i + 1) % SIDE !== 0 && bands[i + 1] !== k) || (i + SIDE < bands.length && bands[i + SIDE] !== k);
    image.data.set(isLine ? [128, 128, 128, 140] : [36, 103, 201, 255 * (0.72 * (1 - k / BANDS) + 0.04)], 4 * i);
  });
  context.putImageData(image, 0, 0);
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
  const note = `${said} To the right, the weight of x grows from ${rough(-reach).replace("-", "−")} to ${rough(reach)}, and upwards that of y. Darker is lower; the other weights stay as they are. The line is the way that training took from 0.`;
  return el("figure", { class: "plane" }, el("figcaption", {}, "Loss surface ", el("span", {}, score)), canvas, el("p", { class: "note" }, note));
}
