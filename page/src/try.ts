// Try: an example in, the answer and its reasons out. What is asked for follows from what the model takes.

import { describe, explain, parsed, predict, Problem, words, type Column, type Json, type Served } from "./api";
import { el, section } from "./dom";
import { answerOf } from "./answers";
import { read } from "./evaluation";

/** A part of the form that makes an example. */
interface Entry {
  node: Node;
  example: () => Promise<unknown>;
}

export async function tryIt(model: Served): Promise<Node> {
  const entry = entryOf(model);
  const note = await alsoUsed(model);
  const result = el("div", { "aria-live": "polite", class: "result" });
  const button = el("button", { class: "primary" }, "Predict");
  let rival: string | undefined;

  const run = async (): Promise<void> => {
    button.disabled = true;
    delete result.dataset.done;
    try {
      const form = model.input.form;
      const examples = { [form]: [await entry.example()] };
      const [prediction] = await predict(model.name, { ...examples, ...asked(model) });
      // Reasons are a matter of their own: an answer without them is an answer.
      const found = await explain(model.name, { ...examples, top: 12, words: form === "texts" || form === "rows", ...(rival ? { class: rival } : {}) }).catch((error: unknown) => (error instanceof Problem ? error : Promise.reject(error)));
      const [reasons, none] = found instanceof Problem ? [[], el("p", { class: "note" }, `Not explained: ${words(found)}`)] : [found, ""];
      const choose = (name: string): void => {
        rival = name || undefined;
        void run();
      };
      result.replaceChildren(answerOf({ model, prediction, reasons, example: examples[form][0], rival, choose }), none, asCommand(model, { ...examples, ...asked(model) }));
    } catch (error) {
      result.replaceChildren(el("p", { class: "warn", role: "alert" }, words(error)));
    }
    button.disabled = false;
    result.dataset.done = "true";
  };

  const submit = (event: Event): void => {
    event.preventDefault();
    rival = undefined;
    void run();
  };
  const quick = (event: Event): void => {
    const key = event as KeyboardEvent;
    // As by the button, so that the fields are checked.
    if (key.key === "Enter" && (key.ctrlKey || key.metaKey)) (event.currentTarget as HTMLFormElement).requestSubmit();
  };
  return el("div", {}, section("An example", el("form", { submit, keydown: quick }, entry.node, note, el("div", { class: "actions" }, button, el("span", { class: "note" }, "Ctrl+Enter predicts, too")))), result);
}

/** Everything that the model can say of an example. */
function asked(model: Served): Json {
  const { task, input } = model;
  const n = input.classes?.length ?? 0;
  switch (task) {
    case "classify":
    case "multilabel":
      return { top: Math.max(1, Math.min(12, n)) };
    case "tag":
    case "dependency":
    case "constituency":
      return input.proba ? { proba: true } : {};
    case "segment":
      return { confidence: true };
    default:
      return {};
  }
}

/** What a parser was trained with, beside the words and their parts of speech that the form has room for. */
async function alsoUsed(model: Served): Promise<Node | false> {
  if (model.task !== "dependency") return false;
  const about = await describe(model.name, 1);
  const used = ((about.columns ?? []) as string[]).filter((name) => !["form", "upos"].includes(name));
  return used.length > 0 && el("p", { class: "note" }, `The model was also trained with ${used.join(", ")}, which this form does not ask for. A request to the API can give such lists beside the tokens.`);
}

function asCommand(model: Served, request: Json): Node {
  const shown = model.input.form === "images" ? { images: ["…"] } : request;
  const command = `curl ${new URL(`v1/models/${encodeURIComponent(model.name)}/predict`, location.href.split("#")[0])} \\\n  -H 'content-type: application/json' \\\n  -d '${JSON.stringify(shown).replaceAll("'", "'\\''")}'`;
  return el("details", {}, el("summary", {}, "The same by curl"), el("pre", { tabindex: 0 }, command));
}

function entryOf(model: Served): Entry {
  const { input } = model;
  const first = input.example?.[input.form]?.[0];
  switch (input.form) {
    case "texts":
      return text("Text", String(first ?? ""), (value) => value);
    case "images":
      return image();
    case "rows":
      if (input.columns) return row(input.columns, (first ?? {}) as Json);
      return json("Features by index, or a list of numbers", first ?? {});
    case "sentences":
      return sentence(model, first);
    case "queries":
      return query(first);
    default:
      return json("Example as JSON", first ?? {});
  }
}

function area(label: string, value: string, rows: number): [HTMLTextAreaElement, Node] {
  const field = el("textarea", { id: "example", rows, spellcheck: "false" });
  field.value = value;
  return [field, el("div", { class: "field" }, el("label", { for: "example" }, label), field)];
}

function text(label: string, value: string, make: (value: string) => unknown): Entry {
  const [field, node] = area(label, value, 5);
  return { node, example: async () => make(field.value) };
}

function json(label: string, value: unknown): Entry {
  const [field, node] = area(label, JSON.stringify(value, null, 1), 10);
  return { node, example: async () => parsed(field.value, "The example") };
}

/** Documents, one per line. */
function query(first: unknown): Entry {
  const documents = ((first as Json | undefined)?.documents ?? []) as unknown[];
  const lines = documents.map((document) => JSON.stringify(document)).join("\n");
  return text("Documents to put in order, one per line: as JSON, or as 1:0.5 2:3", lines, (value) => {
    const all = value.split("\n").map((line) => line.trim()).filter(Boolean);
    return { documents: all.map((line, i) => (/^\d+:/.test(line) ? pairs(line, i) : parsed(line, `Line ${i + 1}`))) };
  });
}

/** `1:0.5 2:3`, as LETOR writes features. */
function pairs(line: string, at: number): Json {
  return Object.fromEntries(
    line.split(/\s+/).map((pair) => {
      const [index, value] = pair.split(":");
      if (value === undefined || value === "" || !Number.isFinite(Number(value))) throw new Error(`Line ${at + 1}: ${pair} is not a feature and its value, as 1:0.5`);
      return [index, Number(value)];
    }),
  );
}

/** Words, or a line of cells for each token where the model wants more than words. */
function sentence(model: Served, first: unknown): Entry {
  const columns = model.input.columns ?? [];
  if (columns.length > 1) {
    const rows = Array.isArray(first) ? (first as string[][]) : [];
    const cells = rows.every(Array.isArray);
    if (!cells) return json("Sentence as JSON", first);
    const lines = rows.map((row) => row.join("\t")).join("\n");
    // CoNLL has no names for its columns: they are counted.
    const names = columns.map((column, i) => (i === 0 ? "word" : /^\d+$/.test(column.name) ? `column ${column.name}` : column.name)).join(", ");
    return text(`One token per line: ${names}, between blanks`, lines, (value) => value.split("\n").filter((line) => line.trim()).map((line) => line.trim().split(/\s+/)));
  }
  if (first && typeof first === "object" && !Array.isArray(first)) {
    const [, tags] = Object.entries(first as Record<string, string[]>).find(([key]) => key !== "tokens") ?? ["", []];
    const key = Object.keys(first).find((key) => key !== "tokens") ?? "upos";
    const words = ((first as Json).tokens as string[]).map((word, i) => `${word}/${(tags as string[])[i]}`).join(" ");
    // Parsers of phrases bring a tagger for words without parts of speech.
    const mayBeBare = model.task === "constituency";
    return text(mayBeBare ? "Sentence, words between blanks; parts of speech may be given, as dog/NN" : `Words with their parts of speech (${key}), as dog/NOUN`, mayBeBare ? ((first as Json).tokens as string[]).join(" ") : words, (value) => {
      if (mayBeBare && value.trim() && !/\S\/\S/.test(value)) return value.trim().split(/\s+/);
      const pairs = value.trim().split(/\s+/).map((pair) => pair.split(/\/(?=[^/]*$)/));
      // Without its part of speech a word would be taken for one that has none, and the tree would be a bad one.
      const bare = pairs.find((pair) => pair.length !== 2 || !pair[0] || !pair[1]);
      if (bare) throw new Error(`${bare.join("/") || "The sentence"} has no part of speech: ${mayBeBare ? "give one to every word, or to none" : "this model was trained with them, so write each word as dog/NOUN"}`);
      return { tokens: pairs.map((pair) => pair[0]), [key]: pairs.map((pair) => pair[1]) };
    });
  }
  const isText = typeof first === "string";
  const words = Array.isArray(first) ? first.join(" ") : String(first ?? "");
  if (Array.isArray(first) && first.some(Array.isArray)) return json("Tokens with their attributes", first);
  return text(isText ? "Text" : "Sentence, words between blanks", words, (value) => (isText ? value : value.trim().split(/\s+/)));
}

/** A field for each column. */
function row(columns: Column[], first: Json): Entry {
  const fields = columns.map((column, i): [Column, HTMLInputElement | HTMLTextAreaElement, Node] => {
    const id = `column-${i}`;
    const value = first[column.name];
    const plain = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
    const field = column.kind === "text" ? el("textarea", { id, rows: 3 }) : el("input", { id, type: column.kind === "number" ? "number" : "text", step: "any", list: column.values ? `${id}-values` : undefined });
    field.value = plain;
    const values = column.values && el("datalist", { id: `${id}-values` }, ...column.values.map((value) => el("option", { value })));
    return [column, field, el("div", { class: column.kind === "text" ? "field wide" : "field" }, el("label", { for: id }, column.name), field, values)];
  });
  const example = async (): Promise<unknown> => {
    // An empty field is a missing value: a column that is left out would be taken for a wrong name.
    const entries = fields.map(([column, field]) => {
      if (field.value === "" && column.kind !== "text") return [column.name, null];
      const value = column.kind === "number" ? Number(field.value) : ["numbers", "features"].includes(column.kind) ? parsed(field.value, column.name) : field.value;
      return [column.name, value];
    });
    return Object.fromEntries(entries);
  };
  return { node: el("div", { class: "fields" }, ...fields.map(([, , node]) => node)), example };
}

function image(): Entry {
  const field = el("input", { type: "file", id: "example", accept: "image/png,image/jpeg,.ppm,.pgm,.pnm", required: true });
  const example = async (): Promise<unknown> => {
    const file = field.files?.[0];
    if (!file) throw new Error("Choose an image first");
    return { name: file.name, data: await read(file) };
  };
  return { node: el("div", { class: "field" }, el("label", { for: "example" }, "Image (PNG, JPEG, PPM, PGM)"), field), example };
}
