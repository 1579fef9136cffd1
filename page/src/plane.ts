// The plane as learners see it: regions of classes, lines where scores are 0, points.

import type { Json } from "./api";
import { CLASSES, type Point } from "./sets";

export const FRAME: [number, number, number, number] = [-2.5, -2.5, 2.5, 2.5];
export const SQUARES = 150;
export const SIDE = 450;
const TONES: [number, number, number][] = [[36, 103, 201], [200, 98, 10], [20, 128, 90], [138, 58, 185]];

/** Regions, the lines where scores are 0, and the points. */
export function paint(canvas: HTMLCanvasElement, points: Point[], found: Json | null): void {
  const context = canvas.getContext("2d")!;
  const px = (x: number): number => ((x - FRAME[0]) / (FRAME[2] - FRAME[0])) * SIDE;
  const py = (y: number): number => ((FRAME[3] - y) / (FRAME[3] - FRAME[1])) * SIDE;
  const tone = (name: string, alpha: number): string => `rgba(${TONES[Math.max(0, CLASSES.indexOf(name)) % TONES.length].join(", ")}, ${alpha})`;
  context.clearRect(0, 0, SIDE, SIDE);
  if (found) {
    const classes = found.classes as string[];
    const size = SIDE / SQUARES;
    (found.grid as number[]).forEach((k, i) => {
      context.fillStyle = tone(classes[k], 0.24);
      context.fillRect((i % SQUARES) * size, SIDE - (Math.floor(i / SQUARES) + 1) * size, size, size);
    });
    context.lineWidth = 1.4;
    (found.lines as [number, number, number][]).forEach(([a, b, c], k) => {
      // Lines of pairs, and of the columns of a code, belong to no class.
      const own = ["joint", "ova"].includes(found.report.strategy) && found.lines.length === classes.length;
      context.strokeStyle = own ? tone(classes[k], 0.95) : "rgba(128, 128, 128, 0.9)";
      for (const [level, dash] of [[0, []], [1, [4, 4]], [-1, [4, 4]]] as [number, number[]][]) {
        context.setLineDash(dash);
        context.beginPath();
        if (Math.abs(b) > Math.abs(a)) {
          context.moveTo(px(FRAME[0]), py((level - c - a * FRAME[0]) / b));
          context.lineTo(px(FRAME[2]), py((level - c - a * FRAME[2]) / b));
        } else if (a !== 0) {
          context.moveTo(px((level - c - b * FRAME[1]) / a), py(FRAME[1]));
          context.lineTo(px((level - c - b * FRAME[3]) / a), py(FRAME[3]));
        }
        context.stroke();
      }
    });
    context.setLineDash([]);
  }
  for (const [x, y, name] of points) {
    context.beginPath();
    mark(context, CLASSES.indexOf(name), px(x), py(y));
    context.fillStyle = tone(name, 1);
    context.fill();
    context.strokeStyle = "rgba(255, 255, 255, 0.8)";
    context.lineWidth = 1;
    context.stroke();
  }
}

/** A shape for each class: colours alone do not tell all eyes apart. */
function mark(context: CanvasRenderingContext2D, k: number, x: number, y: number): void {
  const [r, d] = [3.6, 4.4];
  if (k === 1) context.rect(x - r + 0.4, y - r + 0.4, 2 * r - 0.8, 2 * r - 0.8);
  else if (k === 2) [[0, -d], [d, r], [-d, r]].forEach(([dx, dy], i) => (i === 0 ? context.moveTo(x + dx, y + dy) : context.lineTo(x + dx, y + dy)));
  else if (k === 3) [[0, -d - 0.6], [d + 0.6, 0], [0, d + 0.6], [-d - 0.6, 0]].forEach(([dx, dy], i) => (i === 0 ? context.moveTo(x + dx, y + dy) : context.lineTo(x + dx, y + dy)));
  else context.arc(x, y, r, 0, 2 * Math.PI);
  context.closePath();
}

/** Where in the plane an event is, to three digits. */
export function placeOf(canvas: HTMLCanvasElement, event: MouseEvent): [number, number] {
  const box = canvas.getBoundingClientRect();
  const x = FRAME[0] + ((event.clientX - box.left) / box.width) * (FRAME[2] - FRAME[0]);
  const y = FRAME[3] - ((event.clientY - box.top) / box.height) * (FRAME[3] - FRAME[1]);
  return [Math.round(x * 1000) / 1000, Math.round(y * 1000) / 1000];
}
