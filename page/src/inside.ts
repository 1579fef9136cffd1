// Look inside: the certificate in words, how training went, what weighs most, and how the model does on labelled data.

import { describe, views, type Json, type Served } from "./api";
import { diverging } from "./charts";
import { capital, el, rough, section } from "./dom";
import { evaluation } from "./evaluation";
import { blocks } from "./report";

/** Features of each class that are asked for, to be searched; fewer where there are many classes. */
const SEARCHED = 2000;
const ALL = 100_000;
/** Tasks whose models keep hashes of their features. */
const HASHED = ["dependency", "constituency", "declared"];

export async function inside(model: Served): Promise<Node> {
  const about = await describe(model.name, Math.max(1, Math.min(SEARCHED, Math.floor(ALL / (model.input.outputs ?? 1)))));
  const facts = (about.facts as [string, string][]).filter(([name]) => name !== "certificate").map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
  const out = el("div", {});
  out.append(
    section("Certificate", el("p", {}, capital(String(about.certificate))), el("p", { class: "note" }, inWords(about))),
    section("What it is", el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What it is" }, el("table", {}, ...facts))),
  );
  const training = el("div", { class: "views" });
  const drawn = await views(model.name);
  blocks(training, drawn.training);
  out.append(training);
  const weights = weightsOf(about);
  if (weights) out.append(weights);
  out.append(evaluation(model, drawn.evaluation));
  return out;
}

function inWords(about: Json): string {
  if (typeof about.gap !== "number" || typeof about.objective !== "number") return "This learner has no certificate: its weights are not claimed to be close to an optimum.";
  const share = about.objective > 0 ? about.gap / about.objective : 0;
  return `No weights whatever have an objective more than ${rough(about.gap)} below this one, which is ${rough(100 * share)} % of it: this is proven, not estimated.`;
}

type Weights = { class: string; features: [string, number][]; effects?: number[] };

function weightsOf(about: Json): Node | null {
  const given = about.top_features as any[] | undefined;
  if (HASHED.includes(String(about.task))) return section("Features that weigh most", el("p", { class: "note" }, "Models of this task keep hashes of their features in place of the names, so the features cannot be listed here. Under Try, each answer names the features that decided it."));
  if (!given || given.length === 0) return null;
  const all: Weights[] = Array.isArray(given[0]) ? [{ class: "", features: given as [string, number][] }] : (given as Weights[]);
  all.push(...pairsOf(about));
  // In units of its own a weight says little: what a usual difference of the feature does is drawn, where that is known.
  const areEffects = all.some(({ features, effects }) => effects?.some((effect, i) => effect !== features[i][1]));
  const drawn = all.map(({ features, effects }) => features.map(([name, weight], i): [string, number] => [name, areEffects ? (effects?.[i] ?? weight) : weight]));
  const search = el("input", { type: "search", id: "search", placeholder: "part of a feature's name" });
  const choice = el("select", { id: "class" }, ...all.map((one, i) => el("option", { value: i }, one.class || "weights")));
  const shown = el("div", { "aria-live": "polite" });
  const update = (): void => {
    const part = search.value.toLowerCase();
    const found = drawn[choice.selectedIndex].filter(([name]) => name.toLowerCase().includes(part));
    const count = found.length > 20 ? `The largest 20 of ${found.length}` : `${found.length}`;
    shown.replaceChildren(found.length > 0 ? diverging(found.slice(0, 20), areEffects ? "weight × standard deviation" : "weight", 720) : "", el("p", { class: "note" }, `${count} among the ${drawn[choice.selectedIndex].length} features that weigh most.${meaning(about, all[choice.selectedIndex].class, areEffects)}`));
  };
  search.addEventListener("input", update);
  choice.addEventListener("change", update);
  update();
  return section("Features that weigh most", el("div", { class: "actions" }, all.length > 1 && el("label", { for: "class" }, "Class"), all.length > 1 && choice, el("label", { for: "search" }, "Search"), search), shown);
}

const TRANSITIONS = "transitions between labels";
const EDGES = "edges";

/** Weights of two labels beside each other: of taggers, and of graphs and images. */
function pairsOf(about: Json): Weights[] {
  const strongest = (features: [string, number][]): [string, number][] => features.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, SEARCHED);
  const moves = ((about.transitions ?? []) as [string, string, number][]).map(([from, to, weight]): [string, number] => [`${from} → ${to}`, weight]);
  const edges = (Array.isArray(about.edges) ? (about.edges as Json[]) : []).map(({ feature, weight }): [string, number] => [feature, weight]);
  return [{ class: TRANSITIONS, features: strongest(moves) }, { class: EDGES, features: strongest(edges) }].filter(({ features }) => features.length > 0);
}

/** What the sides of the chart mean. */
function meaning(about: Json, of: string, areEffects: boolean): string {
  if (of === TRANSITIONS) return " To the right, the second label follows the first more easily.";
  if (of === EDGES) return " What each feature of an edge adds if its two ends have different labels; to the left, it holds them together.";
  const names = (about.class_names ?? []) as string[];
  const sides = about.task === "regress" ? " To the right it raises the number, to the left it lowers it." : names.length === 2 && about.task === "classify" ? ` To the right it speaks for ${names[1]}, to the left for ${names[0]}.` : of ? ` To the right it speaks for ${of}, to the left against it.` : "";
  return sides + (areEffects ? " Each bar is what a usual difference of the feature does: its weight times its standard deviation." : "");
}
