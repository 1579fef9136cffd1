// The playground: points in the plane, and what two learners make of them, side by side and pass by pass. What is shown stands in the address.

import { playground, type Json } from "./api";
import { lines as curve } from "./charts";
import { el, rough, section } from "./dom";
import { codes } from "./codes";
import { lattice } from "./lattice";
import { arborescence } from "./arborescence";

const FRAME: [number, number, number, number] = [-2.5, -2.5, 2.5, 2.5];
const SQUARES = 90;
const SIDE = 450;
const CLASSES = ["a", "b", "c", "d"];
const TONES: [number, number, number][] = [[36, 103, 201], [200, 98, 10], [20, 128, 90], [138, 58, 185]];

type Point = [number, number, string];
interface Learner {
  loss: string;
  strategy: string;
  solver: string;
  c: number;
  map: string;
}
interface State {
  view: string;
  set: string;
  points: Point[] | null;
  learners: [Learner, Learner];
  passes: number;
}

const LOSSES = ["logistic", "hinge", "squared-hinge", "perceptron", "squared"];
const STRATEGIES = ["joint", "ova", "ovo", "ecoc"];
const SOLVERS = ["auto", "sgd", "dual", "lbfgs", "newton", "gd"];
const MAPS = ["none", "poly:2", "poly:3", "rff:100"];

const START: State = {
  view: "plane",
  set: "a strip between classes",
  points: null,
  learners: [
    { loss: "hinge", strategy: "ova", solver: "auto", c: 100, map: "none" },
    { loss: "hinge", strategy: "joint", solver: "auto", c: 100, map: "none" },
  ],
  passes: 0,
};

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

const SETS: Record<string, () => Point[]> = {
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

/** The state that the address has, or the first one. */
function restored(): State {
  try {
    return { ...START, ...JSON.parse(decodeURIComponent(location.hash.slice(1))) };
  } catch {
    return structuredClone(START);
  }
}

export function show(main: HTMLElement): void {
  const state = restored();
  const keep = (): void => history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(state))}`);
  const views: [string, string, () => Node][] = [
    ["plane", "Points in the plane", () => plane(state, keep)],
    ["codes", "Code matrix", codes],
    ["viterbi", "Viterbi", lattice],
    ["arborescence", "Chu–Liu–Edmonds", arborescence],
  ];
  const draw = (focus = false): void => {
    const tabs = views.map(([key, title], i) => {
      const open = (at: number): void => {
        state.view = views[(at + views.length) % views.length][0];
        keep();
        draw(true);
      };
      const keys = (event: Event): void => {
        const key = (event as KeyboardEvent).key;
        if (key === "ArrowRight") open(i + 1);
        if (key === "ArrowLeft") open(i - 1);
      };
      const chosen = key === state.view;
      return el("button", { role: "tab", type: "button", class: "tab", "aria-selected": String(chosen), "aria-controls": "view", tabindex: chosen ? 0 : -1, click: () => open(i), keydown: keys }, title);
    });
    const [, , view] = views.find(([key]) => key === state.view) ?? views[0];
    main.replaceChildren(el("h1", {}, "Playground"), el("p", { class: "lead" }, "What learners make of data, step by step. The address of this page restores it."), el("div", { class: "bar-of-tabs" }, el("div", { role: "tablist", "aria-label": "Views" }, ...tabs)), el("div", { id: "view", role: "tabpanel", "aria-label": state.view }, view()), el("footer", {}, "Trained by lineal, on this machine."));
    if (focus) main.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  };
  draw();
}

function select(label: string, id: string, values: string[], value: string, change: (value: string) => void): Node {
  const field = el("select", { id, change: () => change(field.value) }, ...values.map((one) => el("option", { selected: one === value }, one)));
  return el("div", { class: "field" }, el("label", { for: id }, label), field);
}

function plane(state: State, keep: () => void): Node {
  let points = state.points ?? SETS[state.set]?.() ?? [];
  let brush = CLASSES[0];
  const panels = state.learners.map((learner, i) => panel(learner, i));
  const said = el("p", { class: "note", role: "status" });

  const run = async (): Promise<void> => {
    keep();
    await Promise.all(panels.map((one) => one.train(points, state.passes)));
    said.textContent = state.passes ? `After ${state.passes} passes` : "Trained to the end";
    out.dataset.ready = "true";
  };
  const drawn = (): void => {
    state.points = points;
    void run();
  };
  for (const one of panels) {
    one.canvas.addEventListener("click", (event) => {
      const box = one.canvas.getBoundingClientRect();
      const x = FRAME[0] + ((event.clientX - box.left) / box.width) * (FRAME[2] - FRAME[0]);
      const y = FRAME[3] - ((event.clientY - box.top) / box.height) * (FRAME[3] - FRAME[1]);
      points = [...points, [Math.round(x * 1000) / 1000, Math.round(y * 1000) / 1000, brush]];
      drawn();
    });
    one.change = () => void run();
  }
  const slider = el("input", { type: "range", id: "passes", min: 0, max: 60, value: state.passes });
  slider.addEventListener("input", () => {
    state.passes = Number(slider.value);
    void run();
  });
  const play = el("button", { type: "button" }, "Pass by pass");
  play.addEventListener("click", async () => {
    play.disabled = true;
    for (let pass = 1; pass <= 20; pass++) {
      state.passes = pass;
      slider.value = String(pass);
      await run();
      await new Promise((next) => setTimeout(next, 120));
    }
    play.disabled = false;
  });
  const choose = (name: string): void => {
    state.set = name;
    state.points = null;
    points = SETS[name]();
    void run();
  };
  const clear = el("button", { type: "button", click: () => ((points = []), drawn()) }, "Clear");
  const out = el("div", { class: "plane" },
    section("Points", el("div", { class: "fields" }, select("Set", "set", Object.keys(SETS), state.set, choose), select("A click adds a point of class", "brush", CLASSES, brush, (value) => (brush = value))), el("div", { class: "actions" }, clear, play, el("label", { for: "passes" }, "Passes (0: to the end)"), slider), said),
    el("div", { class: "grid" }, ...panels.map((one) => one.node)),
  );
  void run();
  return out;
}

interface Panel {
  node: HTMLElement;
  canvas: HTMLCanvasElement;
  change: () => void;
  train: (points: Point[], passes: number) => Promise<void>;
}

function panel(learner: Learner, at: number): Panel {
  const canvas = el("canvas", { width: SIDE, height: SIDE, role: "img", "aria-label": "Points and the regions of their classes" });
  const told = el("div", { "aria-live": "polite" });
  const own: Panel = { node: el("div"), canvas, change: () => undefined, train: async () => undefined };
  const set = (key: "loss" | "strategy" | "solver" | "map") => (value: string): void => {
    learner[key] = value;
    own.change();
  };
  const c = el("input", { id: `c-${at}`, type: "number", min: 0.0001, step: "any", value: learner.c });
  c.addEventListener("change", () => {
    learner.c = Number(c.value) || 1;
    own.change();
  });
  const fields = el("div", { class: "fields" }, select("Loss", `loss-${at}`, LOSSES, learner.loss, set("loss")), select("Strategy", `strategy-${at}`, STRATEGIES, learner.strategy, set("strategy")), select("Solver", `solver-${at}`, SOLVERS, learner.solver, set("solver")), select("Map Φ", `map-${at}`, MAPS, learner.map, set("map")), el("div", { class: "field" }, el("label", { for: `c-${at}` }, "C"), c));
  own.node = section(at === 0 ? "One learner" : "Another", fields, canvas, told);
  // Only the newest question's answer is shown.
  let asked = 0;
  own.train = async (points, passes) => {
    const mine = ++asked;
    const request: Json = { points, loss: learner.loss, strategy: learner.strategy, c: learner.c, frame: FRAME, squares: SQUARES };
    if (learner.solver !== "auto") request.solver = learner.solver;
    if (learner.map !== "none") request.map = learner.map;
    if (passes) request.passes = passes;
    try {
      const found = await playground(request);
      if (mine !== asked) return;
      paint(canvas, points, found);
      const points_ = ((found.report.curve ?? []) as Json[]).filter((p) => typeof p.objective === "number").map((p) => ({ x: p.pass as number, y: p.objective as number, name: "objective" }));
      told.replaceChildren(el("p", {}, `${found.wrong} of ${points.length} wrong. ${found.certificate}`), points_.length > 1 ? curve(points_, { x: "pass", y: "objective", title: `Objective by pass, from ${rough(points_[0].y)} to ${rough(points_[points_.length - 1].y)}` }) : "", el("details", {}, el("summary", {}, "The same by the program"), el("pre", { tabindex: 0 }, found.command)));
    } catch (error) {
      if (mine !== asked) return;
      paint(canvas, points, null);
      told.replaceChildren(el("p", { class: "warn", role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
  };
  return own;
}

/** Regions, the lines where scores are 0, and the points. */
function paint(canvas: HTMLCanvasElement, points: Point[], found: Json | null): void {
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
      const own = found.lines.length === classes.length;
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
    context.arc(px(x), py(y), 3.6, 0, 2 * Math.PI);
    context.fillStyle = tone(name, 1);
    context.fill();
    context.strokeStyle = "rgba(255, 255, 255, 0.8)";
    context.lineWidth = 1;
    context.stroke();
  }
}
