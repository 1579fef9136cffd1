// How the model does on labelled data that the user drops on the page. The server compares, and draws what `eval --report` draws.

import { evaluate, type Json, type Served, type Views } from "./api";
import { el, section } from "./dom";
import { blocks } from "./report";

/** What a labelled file of a task is, by names that tell its format. */
const FILES: Record<string, [string, string]> = {
  classify: ["rows with a column of classes", ".csv, .tsv, .jsonl, .svm, .ft, .vw"],
  multilabel: ["rows with a column of labels", ".csv, .tsv, .jsonl, .svm, .ft"],
  regress: ["rows with a column of numbers", ".csv, .tsv, .jsonl, .svm, .vw"],
  tag: ["sequences with their labels", ".conll, .conllu, .crfsuite, .jsonl"],
  dependency: ["sentences with heads and relations", ".conllu"],
  constituency: ["bracketed trees", ".mrg, .ptb, .brackets"],
  rank: ["queries with grades", ".letor, .csv, .tsv, .jsonl"],
  segment: ["graphs with labels", ".jsonl"],
  declared: ["examples with labels", ".jsonl"],
};

export function evaluation(model: Served, kept: Views["evaluation"]): Node {
  const result = el("div", { "aria-live": "polite" });
  const shown = el("div", { class: "views" });
  const isImages = model.input.form === "images";
  const show = async (request: () => Promise<Json>): Promise<void> => {
    delete result.dataset.done;
    result.replaceChildren(el("p", { class: "note" }, "Comparing …"));
    try {
      const found = await evaluate(model.name, await request());
      result.replaceChildren(el("p", { class: "note" }, "The same by the program: ", el("code", {}, `lineal eval ${model.name}.lineal FILE --report page.html`)));
      blocks(shown, found.html as string);
      // They can be searched above.
      shown.querySelectorAll("h2").forEach((head) => head.textContent === "Features that weigh most" && head.parentElement?.remove());
    } catch (error) {
      shown.replaceChildren();
      result.replaceChildren(el("p", { class: "warn", role: "alert" }, error instanceof Error ? error.message : String(error)));
    }
    result.dataset.done = "true";
  };
  // Until a file is dropped, what the model file keeps of the data that it was tested with.
  if (kept) {
    const name = kept.source.split(/[\\/]/).pop() ?? "";
    result.append(el("p", { class: "note kept" }, "When the model was trained, it was tested with ", el("code", {}, name), ": this is how it did."));
    blocks(shown, kept.html);
  }
  const block = isImages ? ofImages(show, result) : ofFile(model, show, result);
  return el("div", {}, block, shown);
}

type Show = (request: () => Promise<Json>) => Promise<void>;

function ofFile(model: Served, show: Show, result: Node): Node {
  const [what, names] = FILES[model.task] ?? ["labelled examples", ".jsonl"];
  const hasColumns = model.input.form === "rows" || model.input.form === "texts";
  const label = el("input", { id: "label", placeholder: "found by name", size: 12 });
  const field = el("input", { type: "file", id: "labelled" });
  const run = (file: File | undefined): void => {
    if (file) void show(async () => ({ file: { name: file.name, data: await read(file) }, ...(label.value ? { label: label.value } : {}) }));
  };
  field.addEventListener("change", () => run(field.files?.[0]));
  const choice = el("div", { class: "actions" }, hasColumns && el("label", { for: "label" }, "Label column"), hasColumns && label, el("label", { for: "labelled" }, "File"), field);
  const block = section("On labelled data", el("p", { class: "note" }, `Drop a file here, or choose one: ${what} (${names}). It goes to this server only.`), choice, result);
  droppable(block, (files) => run(files[0]));
  return block;
}

/** Images and masks, put together in the order of their names. */
function ofImages(show: Show, result: Node): Node {
  const images = el("input", { type: "file", id: "labelled", multiple: true });
  const masks = el("input", { type: "file", id: "masks", multiple: true });
  const sorted = (files: FileList | null): File[] => [...(files ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  const run = (): void => {
    const [of, to] = [sorted(images.files), sorted(masks.files)];
    void show(async () => {
      if (of.length === 0 || of.length !== to.length) throw new Error(`${of.length} images and ${to.length} masks: choose as many of both`);
      return { images: await Promise.all(of.map(async (file, i) => ({ name: file.name, data: await read(file), mask: await read(to[i]) }))) };
    });
  };
  const button = el("button", { type: "button", id: "compare", click: run }, "Compare");
  return section("On labelled data", el("p", { class: "note" }, "Choose images and the masks that they should have: both are put together in the order of their names. They go to this server only."), el("div", { class: "actions" }, el("label", { for: "labelled" }, "Images"), images, el("label", { for: "masks" }, "Masks"), masks, button), result);
}

function droppable(block: HTMLElement, take: (files: FileList) => void): void {
  block.addEventListener("dragover", (event) => event.preventDefault());
  block.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) take(event.dataTransfer.files);
  });
}

/** A file as a data URL. */
export function read(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(reader.error ?? new Error("the file cannot be read"));
    reader.readAsDataURL(file);
  });
}
