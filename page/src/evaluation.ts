// How the model does on a labelled file that the user drops on the page. The file goes to this server and nowhere else.

import { predict, type Json, type Served } from "./api";
import { confusion, lines } from "./charts";
import { el, section, table } from "./dom";

const BATCH = 500;
const MOST = 20_000;

interface Judged {
  row: unknown;
  gold: string;
  label: string;
  proba: Record<string, number>;
}

export function evaluation(model: Served): Node {
  const label = el("input", { id: "label", value: "label", size: 12 });
  const field = el("input", { type: "file", id: "labelled", accept: ".csv,.tsv,.jsonl,.ndjson" });
  const result = el("div", { "aria-live": "polite" });
  const run = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      result.replaceChildren(el("p", { class: "note" }, "Predicting …"));
      const judged = await judge(model, rowsOf(file.name, await file.text()), label.value);
      result.replaceChildren(...shown(model, judged));
    } catch (error) {
      result.replaceChildren(el("p", { class: "warn", role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
    result.dataset.done = "true";
  };
  field.addEventListener("change", () => void run(field.files?.[0]));
  const block = section("On a labelled file", el("p", { class: "note" }, "Drop a CSV, TSV or JSON lines file here, or choose one. It goes to this server only."), el("div", { class: "actions" }, el("label", { for: "label" }, "Column with the true class"), label, el("label", { for: "labelled" }, "File"), field), result);
  block.addEventListener("dragover", (event) => event.preventDefault());
  block.addEventListener("drop", (event) => {
    event.preventDefault();
    void run(event.dataTransfer?.files[0]);
  });
  return block;
}

/** The rows of a file, as objects. */
export function rowsOf(name: string, text: string): Json[] {
  if (/\.(jsonl|ndjson)$/.test(name)) return text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  const cells = delimited(text, /\.tsv$/.test(name) ? "\t" : ",");
  const heads = cells.shift() ?? [];
  return cells.map((row) => Object.fromEntries(heads.map((head, i) => [head, row[i] ?? ""])));
}

/** RFC 4180. */
export function delimited(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') cell += text[++i];
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"' && cell === "") quoted = true;
    else if (c === separator) {
      row.push(cell);
      cell = "";
    } else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[i + 1] === "\n") i++;
      row.push(cell);
      cell = "";
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
    } else cell += c;
  }
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  return rows;
}

async function judge(model: Served, rows: Json[], label: string): Promise<Judged[]> {
  if (rows.length === 0) throw new Error("the file has no rows");
  if (rows.length > MOST) throw new Error(`${rows.length} rows are more than ${MOST}: use \`lineal eval\``);
  if (!(label in rows[0])) throw new Error(`there is no column ${label}; there are ${Object.keys(rows[0]).join(", ")}`);
  const numbers = new Set((model.input.columns ?? []).filter((column) => column.kind === "number").map((column) => column.name));
  const clean = (row: Json): Json => Object.fromEntries(Object.entries(row).filter(([name]) => name !== label).map(([name, value]) => [name, numbers.has(name) && typeof value === "string" ? (value.trim() === "" ? null : Number.isNaN(Number(value)) ? value : Number(value)) : value]));
  const ask = model.input.proba ? { proba: true } : { scores: true };
  const judged: Judged[] = [];
  for (let at = 0; at < rows.length; at += BATCH) {
    const part = rows.slice(at, at + BATCH);
    const answers = await predict(model.name, { rows: part.map(clean), ...ask });
    answers.forEach((answer, i) => judged.push({ row: part[i], gold: String(part[i][label]), label: answer.label, proba: answer.proba ?? answer.scores }));
  }
  return judged;
}

function shown(model: Served, judged: Judged[]): Node[] {
  const names = [...new Set([...(model.input.classes ?? []), ...judged.map((one) => one.gold)])];
  const counts = names.map(() => names.map(() => 0));
  for (const { gold, label } of judged) counts[names.indexOf(gold)][names.indexOf(label)]++;
  const right = judged.filter(({ gold, label }) => gold === label).length;
  const out: Node[] = [el("p", { class: "big" }, `${((100 * right) / judged.length).toFixed(1)} % right`), el("p", { class: "note" }, `${right} of ${judged.length} rows`)];
  if (names.length <= 60) out.push(el("h3", {}, "Confusion matrix"), confusion(names, counts), el("p", { class: "note" }, "True classes by row, predicted ones by column."));
  if (model.input.proba) out.push(el("h3", {}, "Reliability"), reliability(judged));
  if ((model.input.classes ?? []).length === 2) out.push(...curves(model, judged));
  out.push(el("h3", {}, "Closest to the border"), closest(judged));
  return out;
}

/** How often rows of a confidence are right, in ten bins. */
function reliability(judged: Judged[]): Node {
  const bins = Array.from({ length: 10 }, () => ({ n: 0, sum: 0, right: 0 }));
  for (const { gold, label, proba } of judged) {
    const bin = bins[Math.min(9, Math.floor(10 * proba[label]))];
    bin.n++;
    bin.sum += proba[label];
    bin.right += Number(gold === label);
  }
  const points = bins.filter((bin) => bin.n > 0).map((bin) => ({ x: bin.sum / bin.n, y: bin.right / bin.n, name: "rows" }));
  return lines(points, { x: "said", y: "right", title: "How often rows of each probability are right", unit: true, diagonal: true });
}

/** ROC and precision by recall, of the second class. */
function curves(model: Served, judged: Judged[]): Node[] {
  const second = model.input.classes![1];
  const sorted = judged.map((one) => ({ p: one.proba[second], gold: one.gold === second })).sort((a, b) => b.p - a.p);
  const n = sorted.filter((one) => one.gold).length;
  const others = sorted.length - n;
  if (n === 0 || others === 0) return [];
  const roc = [{ x: 0, y: 0, name: "ROC" }];
  const pr: typeof roc = [];
  let [hits, false_] = [0, 0];
  sorted.forEach((one, i) => {
    if (one.gold) hits++;
    else false_++;
    if (i + 1 < sorted.length && sorted[i + 1].p === one.p) return;
    roc.push({ x: false_ / others, y: hits / n, name: "ROC" });
    pr.push({ x: hits / n, y: hits / (hits + false_), name: "precision" });
  });
  return [
    el("h3", {}, `ROC of ${second}`),
    lines(roc, { x: "false positives", y: "true positives", title: `ROC of ${second}`, unit: true, diagonal: true }),
    el("h3", {}, `Precision by recall of ${second}`),
    lines(pr, { x: "recall", y: "precision", title: `Precision by recall of ${second}`, unit: true }),
  ];
}

/** Rows whose first two classes are nearest to each other. */
function closest(judged: Judged[]): Node {
  const lead = (one: Judged): number => {
    const [first, second] = Object.values(one.proba).sort((a, b) => b - a);
    return first - (second ?? 0);
  };
  const rows = judged.map((one) => ({ one, lead: lead(one) })).sort((a, b) => a.lead - b.lead).slice(0, 10);
  const text = (row: unknown): string => Object.values(row as Json).map(String).join(" · ").slice(0, 160);
  return table(["lead", "true", "predicted", "row"], rows.map(({ one, lead }) => [lead.toFixed(3), one.gold, one.label, text(one.row)]), [true]);
}
