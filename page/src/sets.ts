// Sets of points in the plane, the same in every run.

export type Point = [number, number, string];
export const CLASSES = ["a", "b", "c", "d"];

/** Numbers that are the same in every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const SETS: Record<string, () => Point[]> = {
  "three classes": () => blobs([[-1.2, -0.8], [1.2, -0.8], [0, 1.3]], 0.35),
  "four classes in a row": () => blobs([[-1.8, 0], [-0.6, 0], [0.6, 0], [1.8, 0]], 0.22),
  // Any two can be told apart by a line, and the highest of four scores does; but no line has the strip on one side and all others on the other.
  "a strip between classes": () => {
    const boxes: [number, [number, number], [number, number]][] = [[43, [-2, -1.5], [-1, -0.3]], [16, [0.6, -1.2], [0.9, 1.2]], [58, [-0.15, -1.5], [0.15, 1.5]], [43, [-2, 0.3], [-1, 1.5]]];
    const draw = random(2);
    const within = (low: number, high: number): number => Math.round(1000 * (low + draw() * (high - low))) / 1000;
    return boxes.flatMap(([n, low, high], k) => Array.from({ length: n }, (): Point => [within(low[0], high[0]), within(low[1], high[1]), CLASSES[k]]));
  },
  circles: () => {
    const draw = random(3);
    return Array.from({ length: 120 }, (_, i): Point => {
      const radius = i % 2 ? 1.4 + 0.5 * draw() : 0.9 * Math.sqrt(draw());
      const angle = 2 * Math.PI * draw();
      return [radius * Math.cos(angle), radius * Math.sin(angle), CLASSES[i % 2]];
    });
  },
  noise: () => {
    const draw = random(5);
    return Array.from({ length: 100 }, (_, i): Point => [4 * draw() - 2, 4 * draw() - 2, CLASSES[i % 2]]);
  },
};

function blobs(centres: [number, number][], width: number): Point[] {
  const draw = random(1);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  return Array.from({ length: 40 * centres.length }, (_, i): Point => {
    const k = i % centres.length;
    const round = (x: number): number => Math.round(1000 * x) / 1000;
    return [round(centres[k][0] + width * normal()), round(centres[k][1] + width * normal()), CLASSES[k]];
  });
}
