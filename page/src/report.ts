// Blocks of reports: the server draws them as `train --report` and `eval --report` do, with everything that comes from a user escaped.

import "../../crates/cli/src/html/script.js";

declare global {
  interface Window {
    linealReport: (root: ParentNode) => void;
  }
}

/** Shows blocks, whose tables sort and whose thresholds move. */
export function blocks(into: HTMLElement, html: string): void {
  into.innerHTML = html;
  // What can be scrolled has a name for who does not see it.
  into.querySelectorAll(".scroll").forEach((box) => {
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", box.closest("section")?.querySelector("h2")?.textContent ?? "Table");
  });
  window.linealReport(into);
}
