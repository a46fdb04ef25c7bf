// A dialog of lines, some of them in the colours of a diff, that can be copied.

import { attribute, byId, hide, keyed, text } from "./dom.js";

/** What the button copies; null: there is nothing to copy. */
let copied = null;

/** Fill *list* with *lines*. */
export function showLines(list, lines) {
  keyed(
    list,
    lines.map((line, index) => ({ ...line, key: `${index}` })),
    () => globalThis.document.createElement("li"),
    (element, line) => {
      text(element, line.text);
      attribute(element, "data-sign", line.sign);
    },
  );
}

export function showDetails({ title, lines, copy = null }) {
  text(byId("details-title"), title);
  showLines(byId("details-lines"), lines);
  copied = copy;
  hide(byId("details-copy"), copy == null);
  text(byId("details-outcome"), "");
  byId("details").showModal();
}

export function listenToDetails() {
  byId("details-copy").addEventListener("click", async () => {
    try {
      await globalThis.navigator.clipboard.writeText(copied);
      text(byId("details-outcome"), "copied");
    } catch {
      // Refused by the person, or a browser without it.
      globalThis.getSelection().selectAllChildren(byId("details-lines"));
      text(byId("details-outcome"), "This browser does not let the page copy: the text is selected.");
    }
  });
}
