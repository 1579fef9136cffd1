// Look inside: the certificate in words, how training went, what weighs most, and how the model does on a labelled file.

import { describe, type Json, type Served } from "./api";
import { diverging, lines } from "./charts";
import { el, rough, section, table } from "./dom";
import { evaluation } from "./evaluation";

/** Features of each class that are asked for, to be searched. */
const SEARCHED = 2000;

export async function inside(model: Served): Promise<Node> {
  const about = await describe(model.name, SEARCHED);
  const facts = (about.facts as [string, string][]).map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
  const out = el("div", {});
  out.append(
    section("Certificate", el("p", {}, about.certificate), el("p", { class: "note" }, inWords(about))),
    section("What it is", el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What it is" }, el("table", {}, ...facts))),
  );
  const curve = curveOf(about);
  if (curve) out.append(curve);
  const margins = marginsOf(about);
  if (margins) out.append(margins);
  const weights = weightsOf(about);
  if (weights) out.append(weights);
  if (model.task === "classify" && ["rows", "texts"].includes(model.input.form)) out.append(evaluation(model));
  return out;
}

function inWords(about: Json): string {
  if (typeof about.gap !== "number" || typeof about.objective !== "number") return "This learner has no certificate: its weights are not claimed to be close to an optimum.";
  const share = about.objective > 0 ? about.gap / about.objective : 0;
  return `No weights whatever have an objective more than ${rough(about.gap)} below this one, which is ${rough(100 * share)} % of it: this is proven, not estimated.`;
}

/** The curve of training, where the file has it. */
function curveOf(about: Json): Node | null {
  const curve = (about.curve ?? []) as Json[];
  if (curve.length < 2) return null;
  const points = curve.flatMap((point) => [["objective", point.objective], ["gap", point.gap]].filter(([, y]) => typeof y === "number" && (y as number) > 0).map(([name, y]) => ({ x: point.pass as number, y: y as number, name: name as string })));
  return section("How training went", lines(points, { x: "pass", y: "objective, gap", title: "Objective and gap by pass", log: true }));
}

function marginsOf(about: Json): Node | null {
  const margins = about.margins as Json | undefined;
  if (!margins) return null;
  const points = [[0, margins.min], ...(margins.quantiles as [number, number][]), [1, margins.max]].map(([q, value]) => ({ x: value as number, y: q as number, name: "margins" }));
  const classes = ((margins.per_class ?? []) as [string, number, number][]).slice(0, 60).map(([name, least, median]) => [name, rough(least), rough(median)]);
  return section("Margins of the training rows", lines(points, { x: "margin", y: "share of rows below", title: "Share of training rows below each margin" }), classes.length > 0 && table(["class", "smallest", "median"], classes, [false, true, true]), el("p", { class: "note" }, "A row of a negative margin is on the wrong side; those near 0 decide where the border is."));
}

type Weights = { class: string; features: [string, number][] };

function weightsOf(about: Json): Node | null {
  const given = about.top_features as any[] | undefined;
  if (!given || given.length === 0) return null;
  const all: Weights[] = Array.isArray(given[0]) ? [{ class: "", features: given as [string, number][] }] : (given as Weights[]);
  const search = el("input", { type: "search", id: "search", placeholder: "part of a feature's name" });
  const choice = el("select", { id: "class" }, ...all.map((one, i) => el("option", { value: i }, one.class || "weights")));
  const shown = el("div", { "aria-live": "polite" });
  const update = (): void => {
    const part = search.value.toLowerCase();
    const found = all[choice.selectedIndex].features.filter(([name]) => name.toLowerCase().includes(part));
    const count = found.length > 20 ? `The largest 20 of ${found.length}` : `${found.length}`;
    shown.replaceChildren(found.length > 0 ? diverging(found.slice(0, 20)) : "", el("p", { class: "note" }, `${count} among the ${all[choice.selectedIndex].features.length} features that weigh most.`));
  };
  search.addEventListener("input", update);
  choice.addEventListener("change", update);
  update();
  return section("Features that weigh most", el("div", { class: "actions" }, all.length > 1 && el("label", { for: "class" }, "Class"), all.length > 1 && choice, el("label", { for: "search" }, "Search"), search), shown);
}
