// The playground: points in the plane, and what learners make of them, side by side and pass by pass. What is shown stands in the address.

import { playground, type Json } from "./api";
import { arborescence } from "./arborescence";
import { lines as curve } from "./charts";
import { codes } from "./codes";
import { capital, el, rough, section } from "./dom";
import { lattice } from "./lattice";
import { FRAME, paint, placeOf, SIDE, SQUARES } from "./plane";
import { CLASSES, type Point, SETS } from "./sets";
import { scoresOf, surfaceOf } from "./surface";

interface Learner {
  loss: string;
  strategy: string;
  solver: string;
  c: number;
  map: string;
}

/** What the address restores, of every view. */
export interface State {
  view: string;
  set: string;
  points: Point[] | null;
  learners: Learner[];
  passes: number;
  /** The score whose loss surface is shown; -1 for none. */
  surface: number;
  code: string;
  answers: number[] | null;
  /** How far the algorithms have come. */
  column: number;
  step: number;
}

const LOSSES = ["logistic", "hinge", "squared-hinge", "perceptron", "squared"];
const STRATEGIES = ["joint", "ova", "ovo", "ecoc"];
const SOLVERS = ["auto", "sgd", "dual", "lbfgs", "newton", "gd"];
const MAPS = ["none", "poly:2", "poly:3", "rff:100"];

const learner = (loss: string, strategy: string, solver = "auto", c = 100): Learner => ({ loss, strategy, solver, c, map: "none" });

/** What is worth comparing. */
const PAIRS: Record<string, Learner[]> = {
  "one-vs-all, joint": [learner("hinge", "ova"), learner("hinge", "joint")],
  "perceptron, SVM, logistic": [learner("perceptron", "joint", "sgd"), learner("hinge", "joint"), learner("logistic", "joint")],
  "one-vs-all, one-vs-one, joint": [learner("logistic", "ova"), learner("logistic", "ovo"), learner("logistic", "joint")],
  "one step size, curvature": [learner("logistic", "joint", "gd", 1), learner("logistic", "joint", "newton", 1)],
};

const START: State = {
  view: "plane",
  set: "a strip between classes",
  points: null,
  learners: PAIRS["one-vs-all, joint"],
  passes: 0,
  surface: 0,
  code: "exhaustive",
  answers: null,
  column: 1,
  step: 0,
};

/** The state that the address has, or the first one. */
function restored(): State {
  const start = structuredClone(START);
  try {
    const found = { ...start, ...JSON.parse(decodeURIComponent(location.hash.slice(1))) } as State;
    return Array.isArray(found.learners) && found.learners.length > 0 && found.learners.length <= 3 ? found : start;
  } catch {
    return start;
  }
}

export function show(main: HTMLElement): void {
  const state = restored();
  const keep = (): void => history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(state))}`);
  const views: [string, string, () => Node][] = [
    ["plane", "Points in the plane", () => plane(state, keep)],
    ["codes", "Code matrix", () => codes(state, keep)],
    ["viterbi", "Viterbi", () => lattice(state, keep)],
    ["arborescence", "Chu–Liu–Edmonds", () => arborescence(state, keep)],
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

/** How far apart points of a line are that the mouse draws. */
const SPACING = 0.15;

function plane(state: State, keep: () => void): Node {
  let points = state.points ?? SETS[state.set]?.() ?? [];
  let brush = CLASSES[0];
  let panels: Panel[] = [];
  const side_by_side = el("div", { class: "grid" });
  const scores = el("div");
  const said = el("p", { class: "note", role: "status" });

  const run = async (): Promise<void> => {
    keep();
    scores.replaceChildren(chooseScore());
    await Promise.all(panels.map((one) => one.train(points, state)));
    said.textContent = `${points.length} points. ${state.passes ? `After ${state.passes} passes` : "Trained to the end"}.`;
    out.dataset.ready = "true";
  };
  const add = (...more: Point[]): void => {
    points = [...points, ...more];
    state.points = points;
    void run();
  };
  const chooseScore = (): Node => {
    const classes = [...new Set(points.map((point) => point[2]))].sort();
    const names = ["none", ...scoresOf(state.learners[0].strategy, classes)];
    return select("Loss surface", "surface", names, names[state.surface + 1] ?? "none", (name) => {
      state.surface = names.indexOf(name) - 1;
      void run();
    });
  };
  const lay = (): void => {
    panels = state.learners.map((one, i) => panel(one, i));
    for (const one of panels) {
      one.change = () => void run();
      drawOn(one.canvas, () => brush, add);
    }
    side_by_side.className = panels.length > 2 ? "grid three" : "grid";
    side_by_side.replaceChildren(...panels.map((one) => one.node));
  };

  const slider = el("input", { type: "range", id: "passes", min: 0, max: 60, value: state.passes });
  let plays = false;
  slider.addEventListener("input", () => {
    plays = false;
    state.passes = Number(slider.value);
    void run();
  });
  const play = el("button", { type: "button" }, "Pass by pass");
  play.addEventListener("click", async () => {
    plays = !plays;
    if (!plays) return;
    play.textContent = "Stop";
    // Until it is stopped, or another view is opened.
    for (let pass = 1; pass <= 20 && plays && play.isConnected; pass++) {
      state.passes = pass;
      slider.value = String(pass);
      await run();
      await new Promise((next) => setTimeout(next, 120));
    }
    plays = false;
    play.textContent = "Pass by pass";
  });
  const choose = (name: string): void => {
    state.set = name;
    state.points = null;
    points = SETS[name]();
    void run();
  };
  const compare = (name: string): void => {
    if (!PAIRS[name]) return;
    state.learners = structuredClone(PAIRS[name]);
    lay();
    void run();
  };
  const clear = el("button", { type: "button", click: () => ((points = []), (state.points = points), void run()) }, "Clear");
  const [x, y] = ["x", "y"].map((name) => el("input", { id: `point-${name}`, type: "number", step: "any", value: 0, "aria-label": `${name} of a point` }));
  const put = el("button", { type: "button", click: () => add([Number(x.value), Number(y.value), brush]) }, "Add");
  const same = Object.keys(PAIRS).find((name) => JSON.stringify(PAIRS[name]) === JSON.stringify(state.learners));
  const out = el("div", { class: "plane" },
    section("Points",
      el("div", { class: "fields" },
        select("Set", "set", Object.keys(SETS), state.set, choose),
        select("Side by side", "pairs", [...(same ? [] : ["as chosen below"]), ...Object.keys(PAIRS)], same ?? "as chosen below", compare),
        select("Draw with the mouse, class", "brush", CLASSES, brush, (value) => (brush = value)),
        el("div", { class: "field" }, el("span", { class: "note" }, "or by numbers"), el("div", { class: "pair-of-fields" }, x, y, put)),
        scores),
      el("div", { class: "actions" }, clear, play, el("label", { for: "passes" }, "Passes (0: to the end)"), slider), said),
    side_by_side,
  );
  lay();
  void run();
  return out;
}

/** The mouse, a pen or a finger adds points: one where it is pressed, more where it is drawn along. */
function drawOn(canvas: HTMLCanvasElement, brush: () => string, add: (...points: Point[]) => void): void {
  let drawn: Point[] = [];
  const at = (event: PointerEvent): void => {
    const [x, y] = placeOf(canvas, event);
    const last = drawn[drawn.length - 1];
    if (!last || Math.hypot(last[0] - x, last[1] - y) >= SPACING) drawn.push([x, y, brush()]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    drawn = [];
    at(event);
  });
  canvas.addEventListener("pointermove", (event) => drawn.length > 0 && event.buttons > 0 && at(event));
  const end = (): void => {
    if (drawn.length > 0) add(...drawn);
    drawn = [];
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointerleave", end);
}

interface Panel {
  node: HTMLElement;
  canvas: HTMLCanvasElement;
  change: () => void;
  train: (points: Point[], state: State) => Promise<void>;
}

function panel(learner: Learner, at: number): Panel {
  const canvas = el("canvas", { width: SIDE, height: SIDE, role: "img", "aria-label": "Points and the regions of their classes" });
  const told = el("div", { "aria-live": "polite" });
  const drawing = el("div");
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
  own.node = section(["One learner", "Another", "A third"][at], fields, canvas, told, drawing);
  // Only the newest question's answer is shown.
  let asked = 0;
  // A square that does not change while passes go by.
  let reach: { of: string; is: number } | undefined;
  own.train = async (points, { passes, surface }) => {
    const mine = ++asked;
    const request: Json = { points, loss: learner.loss, strategy: learner.strategy, c: learner.c, frame: FRAME, squares: SQUARES };
    if (learner.solver !== "auto") request.solver = learner.solver;
    if (learner.map !== "none") request.map = learner.map;
    try {
      if (surface >= 0) {
        const of = JSON.stringify([request, surface]);
        if (passes && reach?.of !== of) {
          const end = await playground({ ...request, squares: 1, surface: { column: surface } });
          if (end.surface) reach = { of, is: end.surface.reach as number };
        }
        request.surface = { column: surface, ...(passes && reach?.of === of ? { reach: reach.is } : {}) };
      }
      if (passes) request.passes = passes;
      const found = await playground(request);
      if (mine !== asked) return;
      paint(canvas, points, found);
      told.replaceChildren(el("p", {}, `${found.wrong} of ${points.length} wrong. ${capital(String(found.certificate))}`), el("p", { class: "note" }, linesOf(found, learner)), progress((found.report.curve ?? []) as Json[]), el("details", {}, el("summary", {}, "The same by the program"), el("pre", { tabindex: 0 }, found.command)));
      drawing.replaceChildren(surface < 0 ? "" : found.surface ? surfaceOf(found.surface, scoresOf(learner.strategy, found.classes as string[])[surface] ?? "") : el("p", { class: "note" }, "No loss surface: it is drawn for joint, one-vs-all and one-vs-one, without a map, where there is such a score."));
    } catch (error) {
      if (mine !== asked) return;
      paint(canvas, points, null);
      drawing.replaceChildren();
      told.replaceChildren(el("p", { class: "warn", role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
  };
  return own;
}

/** What the lines in the plane are. */
function linesOf({ lines, classes }: Json, { loss, strategy }: Learner): string {
  if (lines.length === 0) return "Colours are the regions of the classes. With a map Φ, the scores have no straight lines to draw.";
  const of = lines.length === 1 ? `the score of ${classes[1]} against ${classes[0]}` : { ova: "the score of each class against all others", joint: "the score of each class", ovo: "the score of each pair of classes" }[strategy] ?? "the score of each problem of the code";
  return `Colours are the regions of the classes. Solid lines: ${of} is 0; dashed lines: it is 1 or −1${loss.endsWith("hinge") ? ", the margin" : ""}.`;
}

/** The objective by pass; of binary problems side by side, which tell no objective on their way, what seems to be left of the gap. */
function progress(passes: Json[]): Node {
  const of = (key: string, name: string): { x: number; y: number; name: string }[] => passes.filter((p) => typeof p[key] === "number" && p[key] > 0).map((p) => ({ x: p.pass as number, y: p[key] as number, name }));
  const objective = of("objective", "objective");
  const points = objective.length > 1 ? objective : of("gap_estimate", "gap");
  if (points.length < 2) return document.createTextNode("");
  const { name } = points[0];
  // What falls by a factor of many is seen on a log scale only.
  const values = points.map((point) => point.y);
  const log = name === "gap" || Math.max(...values) > 30 * Math.min(...values);
  return curve(points, { x: "pass", y: name, log, title: `${name} by pass, from ${rough(points[0].y)} to ${rough(points[points.length - 1].y)}` });
}
