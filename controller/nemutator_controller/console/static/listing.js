// One list on the page: asked for every few seconds while it is shown, drawn as a table.

import * as brain from "./brain.js";
import { comparison, ticked } from "./comparison.js";
import { attribute, byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { counted, visible } from "./format.js";
import { narrowed, rows } from "./lists.js";

/** The profiles that are ticked, to be compared. */
let chosen = [];

/** Show *document* as *list* wants it; *takeBack* is called with what a row offers to roll back. */
export function showList(list, document, takeBack) {
  const now = Date.now() / 1000;
  text(byId("list-title"), list.title);
  const note = document == null ? "" : (list.note?.(document) ?? "");
  text(byId("list-about"), note === "" ? list.about : `${list.about} ${note}`);
  attribute(byId("list-json"), "href", list.path);
  hide(byId("ask"), list.path !== "/api/v1/profiles");
  const found = document == null ? [] : rows(list, document, now);
  hide(byId("list-empty"), document == null || found.length > 0);
  text(byId("list-empty"), list.empty);
  const { shown, count } = narrowed(found, byId("list-filter").value);
  hide(byId("list-filter"), found.length === 0);
  hide(byId("list"), shown.length === 0);
  text(byId("list-shown"), size(shown.length, count, found.length));
  keyed(
    byId("list-head"),
    [...list.columns, ...(list.acts ? ["Actions"] : [])].map((name, index) => ({ key: `${list.path} ${index}`, name })),
    () => Object.assign(globalThis.document.createElement("th"), { scope: "col" }),
    (cell, { name }) => text(cell, name),
  );
  keyed(
    byId("list-rows"),
    shown.map((row) => ({ ...row, key: `${list.path} ${row.key}` })),
    (row) => made(row, list.acts, takeBack),
    fill,
  );
  showTicks();
}

/** Ticking one may untick another; and two that are ticked can be compared. */
function showTicks() {
  const boxes = [...byId("list-rows").querySelectorAll("input[type=checkbox]")];
  for (const box of boxes) {
    const { id } = box.closest("tr").compare;
    box.checked = chosen.some((one) => one.id === id);
  }
  const href = boxes.length > 0 ? comparison(chosen) : null;
  hide(byId("compare"), href == null);
  attribute(byId("compare"), "href", href);
}

/** How many rows there are, and how many of them are seen. */
function size(shown, matching, all) {
  if (all === 0) return "";
  const found = matching < all ? `${matching} of ${counted(all, "row")}` : counted(all, "row");
  return shown < matching ? `${found}, the first ${shown} are shown` : found;
}

/** What a row offers: files to open, something to take back, a box to tick. */
function action({ href, compare }) {
  if (compare) {
    const label = globalThis.document.createElement("label");
    const box = Object.assign(globalThis.document.createElement("input"), { type: "checkbox" });
    label.append(box, globalThis.document.createElement("span"));
    return label;
  }
  return globalThis.document.createElement(href == null ? "button" : "a");
}

function made(row, acts, takeBack) {
  const element = globalThis.document.createElement("tr");
  row.cells.forEach((cell) => element.append(fromTemplate(cell.drawn ? "graph" : cell.bars ? "bars" : "cell")));
  if (!acts) return element;
  const last = globalThis.document.createElement("td");
  last.className = "actions";
  element.append(last);
  last.addEventListener("click", (event) => {
    if (event.target.matches("button")) takeBack(element.rollback);
  });
  last.addEventListener("change", () => {
    chosen = ticked(chosen, element.compare);
    showTicks();
  });
  return element;
}

function fill(element, row) {
  row.cells.forEach((cell, index) => {
    const shown = element.children[index];
    text(shown.querySelector("bdi"), cell.text);
    if (cell.drawn) {
      attribute(shown.querySelector(".line"), "d", cell.drawn.line);
      attribute(shown.querySelector(".area"), "d", cell.drawn.area);
    }
    if (cell.bars) {
      for (const [name, part] of Object.entries(cell.bars)) {
        attribute(shown.querySelector(`.${name}`), "width", part);
      }
    }
    attribute(shown, "title", cell.title || null);
    attribute(shown, "data-grade", cell.grade);
    attribute(shown, "data-wide", cell.wide);
    attribute(shown, "data-stack", cell.stack);
  });
  const last = element.children[row.cells.length];
  if (last == null) return;
  element.rollback = row.rollback;
  element.compare = row.compare;
  const actions = row.links.map(({ text: name, href }) => ({ key: name, name, href }));
  if (row.rollback) actions.push({ key: "rollback", name: "Take back …", href: null });
  if (row.compare) actions.push({ key: "compare", name: "compare", compare: row.compare });
  keyed(last, actions, action, (shown, { name, href, compare }) => {
    if (compare) return text(shown.lastElementChild, name);
    text(shown, name);
    attribute(shown, "href", href);
    if (href == null) shown.type = "button";
    // Other places of this page are shown in its own window.
    else if (!href.startsWith("#")) Object.assign(shown, { target: "_blank", rel: "noopener" });
  });
}

/** What came of a question, in words, with the remedy when it was refused. */
export async function outcome(question, say) {
  try {
    return say(await question);
  } catch (error) {
    if (error instanceof brain.RefusedError) return `${visible(error.message)} → ${visible(error.remedy)}`;
    if (error instanceof brain.SignedOutError) return `This session has ended: ${visible(error.message)}.`;
    if (error instanceof brain.LostError) return `The controller does not answer: ${error.message}`;
    throw error;
  }
}

const rollbackPath = (id, plan) =>
  `/api/v1/mutations/${encodeURIComponent(id)}/rollback?plan=${plan}`;

/** Show what taking *wanted* back would do, and do it when the person says so. */
export async function takeBack(wanted) {
  const dialog = byId("rollback");
  text(byId("rollback-title"), `Take back what was changed of ${wanted.object}`);
  text(byId("rollback-outcome"), "…");
  showSteps([]);
  dialog.returnValue = "";
  byId("rollback-do").disabled = true;
  dialog.showModal();
  const planned = await outcome(brain.post(rollbackPath(wanted.id, true)), (plan) => {
    showSteps(plan.steps);
    const some = plan.steps.some((step) => step.verdict === "reverse");
    byId("rollback-do").disabled = !some;
    return some ? "" : "There is nothing to take back.";
  });
  text(byId("rollback-outcome"), planned);
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "do") return;
  const done = (answer) => `${visible(answer.object.name)}: ${answer.state}`;
  text(byId("list-outcome"), await outcome(brain.post(rollbackPath(wanted.id, false)), done));
}

function showSteps(steps) {
  keyed(
    byId("rollback-steps"),
    steps.map((step, index) => ({ key: String(index), ...step })),
    () => fromTemplate("step"),
    (item, step) => {
      const [path, what] = item.children;
      text(path, visible(step.path));
      text(what, visible(step.what));
      attribute(item, "data-grade", step.verdict === "conflict" ? "notice" : "calm");
    },
  );
}
