// One list on the page: asked for every few seconds while it is shown, drawn as a table.

import { byId, attribute, hide, keyed, text } from "./dom.js";
import { csv, json } from "./exported.js";
import { showMap } from "./flowmapview.js";
import { counted } from "./format.js";
import { keyOf, placeOf } from "./listfilter.js";
import { compareTicked, fill, made } from "./listrows.js";
import { MOST_ROWS, narrowed, rows } from "./lists.js";

/** What the files are made of when somebody asks for one, and the order that a person chose. */
let shownNow = { list: null, matching: [], order: null };

/**
 * Show *document* as *list* wants it, in the order that a person chose: `column` is its name in the address; null for the
 * list's own. *takeBack* is called with what a row offers to roll back.
 */
export function showList(list, document, chosen, takeBack) {
  const now = Date.now() / 1000;
  text(byId("list-title"), list.title);
  const note = document == null ? "" : (list.note?.(document) ?? "");
  text(byId("list-about"), note === "" ? list.about : `${list.about} ${note}`);
  attribute(byId("list-json"), "href", list.path);
  hide(byId("ask"), list.path !== "/api/v1/profiles");
  hide(byId("policy-new"), list.path !== "/api/v1/policies");
  const found = document == null ? [] : rows(list, document, now);
  const typed = byId("list-filter").value;
  hide(byId("list-empty"), document == null || found.length > 0);
  text(byId("list-empty"), list.searched && typed.trim() !== "" ? "Nothing is called so." : list.empty);
  const place = chosen == null ? -1 : placeOf(list.columns, chosen.column);
  const order = place < 0 ? null : { column: place, descending: chosen.descending };
  const matching = narrowed(found, typed, list.columns, order);
  const shown = matching.slice(0, MOST_ROWS);
  shownNow = { list, matching, order };
  // What somebody has typed may be why there is nothing.
  hide(byId("list-filter"), found.length === 0 && typed === "");
  hide(byId("list-files"), matching.length === 0);
  hide(byId("list"), shown.length === 0);
  text(byId("list-shown"), size(shown.length, matching.length, found.length));
  hide(byId("take-back-all"), takeable().length < 2);
  text(byId("take-back-all"), `Take back all ${takeable().length} …`);
  const columns = list.columns.map((name, index) => ({ key: `${list.path} ${index}`, name, column: index }));
  const acts = list.acts ? [{ key: `${list.path} acts`, name: "Actions", column: null }] : [];
  keyed(byId("list-head"), [...columns, ...acts], heading, (element, { name, column }) => {
    text(element.firstElementChild ?? element, name);
    const sorts = order != null && order.column === column;
    attribute(element, "aria-sort", sorts ? (order.descending ? "descending" : "ascending") : null);
  });
  keyed(
    byId("list-rows"),
    shown.map((row) => ({ ...row, key: `${list.path} ${row.key}` })),
    (row) => made(row, list.acts, takeBack),
    fill,
  );
  compareTicked();
  showMap(list.path.startsWith("/api/v1/flows") ? matching.map(({ item }) => item) : null);
}

function heading({ column }) {
  const element = Object.assign(globalThis.document.createElement("th"), { scope: "col" });
  if (column == null) return element;
  const button = Object.assign(globalThis.document.createElement("button"), { type: "button" });
  button.dataset.column = column;
  element.append(button);
  return element;
}

/** How many rows there are, and how many of them are seen. */
function size(shown, matching, all) {
  if (all === 0) return "";
  const found = matching < all ? `${matching} of ${counted(all, "row")}` : counted(all, "row");
  return shown < matching ? `${found}, the first ${shown} are shown` : found;
}

/** What of the rows that are asked for can be taken back, in their order. */
export const takeable = () => shownNow.matching.map(({ rollback }) => rollback).filter(Boolean);

/** A click on a heading sorts by it: down, up, and then as the list itself is. */
function orderAfter(column) {
  const { list, order } = shownNow;
  const again = order?.column === column;
  return again && !order.descending ? null : { column: keyOf(list.columns[column]), descending: !again };
}

function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(globalThis.document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const FILES = {
  csv: ({ list, matching }) => ["text/csv", csv(list.columns, matching)],
  json: ({ matching }) => ["application/json", json(matching)],
};

/** *sort* is called with the order that a person has chosen. */
export function listenToList(sort) {
  byId("list-head").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button == null) return;
    sort(orderAfter(Number(button.dataset.column)));
  });
  byId("list-files").addEventListener("click", (event) => {
    const kind = event.target.dataset.file;
    if (!Object.hasOwn(FILES, kind ?? "")) return;
    const name = shownNow.list.title.toLowerCase().replaceAll(" ", "-");
    save(`nemutator-${name}.${kind}`, ...FILES[kind](shownNow));
  });
}
