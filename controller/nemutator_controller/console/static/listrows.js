// The rows of a list: their cells, and what a person can do with each.

import { comparison, ticked } from "./comparison.js";
import { attribute, byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { showDetails } from "./details.js";
import { editPolicy } from "./policyeditor.js";

/** The profiles that are ticked, to be compared. */
let chosen = [];

/** Ticking one may untick another; and two that are ticked can be compared. */
export function compareTicked() {
  const boxes = [...byId("list-rows").querySelectorAll("input[type=checkbox]")];
  for (const box of boxes) {
    const { id } = box.closest("tr").compare;
    box.checked = chosen.some((one) => one.id === id);
  }
  const href = boxes.length > 0 ? comparison(chosen) : null;
  hide(byId("compare"), href == null);
  attribute(byId("compare"), "href", href);
}

const shapeOf = (cell) => (cell.drawn ? "graph" : cell.usage ? "usage" : cell.bars ? "bars" : "cell");

export function made(row, acts, takeBack) {
  const element = globalThis.document.createElement("tr");
  row.cells.forEach((cell) => element.append(fromTemplate(shapeOf(cell))));
  if (!acts) return element;
  const last = globalThis.document.createElement("td");
  last.className = "actions";
  element.append(last);
  last.addEventListener("click", (event) => {
    if (!event.target.matches("button")) return;
    const { shows, edits } = event.target;
    if (shows) showDetails(shows);
    else if (edits) editPolicy(edits);
    else takeBack(element.rollback);
  });
  last.addEventListener("change", () => {
    chosen = ticked(chosen, element.compare);
    compareTicked();
  });
  return element;
}

function fillCell(shown, cell) {
  text(shown.querySelector("bdi"), cell.text);
  if (cell.drawn) {
    attribute(shown.querySelector(".line"), "d", cell.drawn.line);
    attribute(shown.querySelector(".area"), "d", cell.drawn.area);
  }
  for (const [name, part] of Object.entries(cell.bars ?? {})) {
    attribute(shown.querySelector(`.${name}`), "width", part);
  }
  for (const name of cell.usage ? ["most", "high", "median"] : []) {
    attribute(shown.querySelector(`.${name}`), "width", cell.usage[name]);
  }
  for (const name of cell.usage ? ["request", "advised", "limit"] : []) {
    const mark = shown.querySelector(`.${name}`);
    attribute(mark, "visibility", cell.usage[name] == null ? "hidden" : null);
    attribute(mark, "x", cell.usage[name] ?? 0);
  }
  attribute(shown, "title", cell.title || null);
  attribute(shown, "data-grade", cell.grade);
  attribute(shown, "data-wide", cell.wide);
  attribute(shown, "data-stack", cell.stack);
}

/** What a row offers: files to open, something to show or to take back, a box to tick. */
function action({ href, compare }) {
  if (compare) {
    const label = globalThis.document.createElement("label");
    const box = Object.assign(globalThis.document.createElement("input"), { type: "checkbox" });
    label.append(box, globalThis.document.createElement("span"));
    return label;
  }
  return globalThis.document.createElement(href == null ? "button" : "a");
}

export function fill(element, row) {
  row.cells.forEach((cell, index) => fillCell(element.children[index], cell));
  const last = element.children[row.cells.length];
  if (last == null) return;
  element.rollback = row.rollback;
  element.compare = row.compare;
  const actions = (row.links ?? []).map(({ text: name, href }) => ({ key: name, name, href }));
  for (const { text: name, ...does } of row.offers ?? []) actions.push({ key: name, name, href: null, does });
  if (row.rollback) actions.push({ key: "rollback", name: "Take back …", href: null });
  if (row.compare) actions.push({ key: "compare", name: "compare", compare: row.compare });
  keyed(last, actions, action, (shown, { name, href, compare, does }) => {
    if (compare) return text(shown.lastElementChild, name);
    text(shown, name);
    attribute(shown, "href", href);
    if (href == null) Object.assign(shown, { type: "button", ...does });
    // Other places of this page are shown in its own window.
    else if (!href.startsWith("#")) Object.assign(shown, { target: "_blank", rel: "noopener" });
  });
}
