// Trees over words, as drawings.

import { svg } from "./dom";

const LETTER = 7.6;
const GAP = 26;

/** Where the middle of each word is, and how wide all are. */
function places(words: string[], above: string[]): [number[], number] {
  let right = 8;
  const middle = words.map((word, i) => {
    const wide = LETTER * Math.max(word.length, above[i]?.length ?? 0) + GAP;
    right += wide;
    return right - wide / 2;
  });
  return [middle, right + 8];
}

const label = (x: number, y: number, text: string, kind = ""): SVGTextElement => svg("text", { x, y, "text-anchor": "middle", class: kind }, text);

/** Arcs from heads to words; the shorter ones below. */
export function arcs(words: string[], heads: number[], relations: string[]): SVGSVGElement {
  const [x, width] = places(words, relations);
  const spans = heads.map((head, i) => (head === 0 ? 0 : Math.abs(head - 1 - i)));
  // An arc stands above all arcs within it.
  const level = spans.map(() => 1);
  const order = spans.map((_, i) => i).filter((i) => heads[i] > 0).sort((a, b) => spans[a] - spans[b]);
  const ends = (i: number): [number, number] => [Math.min(i, heads[i] - 1), Math.max(i, heads[i] - 1)];
  for (const i of order) {
    const [a, b] = ends(i);
    for (const j of order) {
      if (j === i || spans[j] > spans[i]) continue;
      const [c, d] = ends(j);
      if (a <= c && d <= b && (spans[j] < spans[i] || j < i)) level[i] = Math.max(level[i], level[j] + 1);
    }
  }
  const top = 34 * Math.max(2, ...level) + 26;
  const marks: SVGElement[] = [];
  heads.forEach((head, i) => {
    const y = top - 34 * level[i];
    if (head === 0) {
      marks.push(svg("path", { d: `M${x[i]} 18V${top - 6}`, class: "arc root" }), label(x[i], 12, relations[i], "relation"));
    } else {
      const [from, to] = [x[head - 1], x[i]];
      const bend = from < to ? 10 : -10;
      const start = from + bend * 0.6;
      marks.push(svg("path", { d: `M${start} ${top}V${y + 8}Q${start} ${y} ${start + bend} ${y}H${to - bend}Q${to} ${y} ${to} ${y + 8}V${top - 6}`, class: "arc" }), label((from + to) / 2, y - 4, relations[i], "relation"));
    }
    marks.push(svg("path", { d: `M${x[i] - 4} ${top - 9}L${x[i]} ${top - 2}L${x[i] + 4} ${top - 9}Z`, class: "tip" }), label(x[i], top + 16, words[i], "word"));
  });
  const text = words.map((word, i) => `${word} ${relations[i]} of ${heads[i] === 0 ? "root" : words[heads[i] - 1]}`).join(", ");
  return svg("svg", { viewBox: `0 0 ${width} ${top + 26}`, style: `width: ${width}px; max-width: none`, role: "img", "aria-label": text }, ...marks);
}

interface Branch {
  label: string;
  below: (Branch | string)[];
}

/** Reads Penn brackets. */
export function brackets(text: string): Branch {
  const parts = text.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const read = (): Branch => {
    at++;
    const branch: Branch = { label: parts[at] === "(" ? "" : parts[at++], below: [] };
    while (at < parts.length && parts[at] !== ")") branch.below.push(parts[at] === "(" ? read() : parts[at++].replace("-LRB-", "(").replace("-RRB-", ")"));
    at++;
    return branch;
  };
  return read();
}

/** The words of a bracketed tree, in their order. */
export function wordsOf(text: string): string[] {
  const of = (branch: Branch): string[] => branch.below.flatMap((child) => (typeof child === "string" ? [child] : of(child)));
  return of(brackets(text));
}

/** Phrases above their words. */
export function tree(text: string): SVGSVGElement {
  const root = brackets(text);
  const words: string[] = [];
  const tags: string[] = [];
  const collect = (branch: Branch): void =>
    branch.below.forEach((child) => {
      if (typeof child === "string") {
        words.push(child);
        tags.push(branch.label);
      } else collect(child);
    });
  collect(root);
  const [x, width] = places(words, tags);
  const depth = (branch: Branch): number => 1 + Math.max(0, ...branch.below.map((child) => (typeof child === "string" ? 0 : depth(child))));
  const height = depth(root);
  const row = (level: number): number => 18 + 36 * level;
  const marks: SVGElement[] = [];
  let next = 0;
  const draw = (branch: Branch, level: number): [number, number] => {
    const isTag = branch.below.length === 1 && typeof branch.below[0] === "string";
    const own = isTag ? height - 1 : level;
    const children = branch.below.map((child): [number, number] => {
      if (typeof child === "string") {
        marks.push(label(x[next], row(height), child, "word"));
        return [x[next++], row(height) - 14];
      }
      return draw(child, level + 1);
    });
    const middle = (children[0][0] + children[children.length - 1][0]) / 2;
    // Along a beam below the phrase, and straight down: a line to a word far below does not cross the names of other phrases.
    const beam = row(own) + 11;
    for (const [cx, cy] of children) marks.push(svg("path", { d: `M${middle} ${row(own) + 5}V${beam}H${cx}V${cy}`, class: "arc" }));
    marks.push(label(middle, row(own), branch.label, "relation"));
    return [middle, row(own) - 13];
  };
  draw(root, 0);
  return svg("svg", { viewBox: `0 0 ${width} ${row(height) + 10}`, style: `width: ${width}px; max-width: none`, role: "img", "aria-label": text }, ...marks);
}
