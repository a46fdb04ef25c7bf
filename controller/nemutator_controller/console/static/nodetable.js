// The table of nodes: where the page begins when there is more than one.

import { attribute, byId, fromTemplate, hide, keyed, onSort, showSorted, text, width } from "./dom.js";
import { sameOrder } from "./kept.js";
import { FIRST_ORDER, SORTED_BY, listed, reordered, shownOf } from "./nodes.js";

const table = byId("nodes-table");
const filter = byId("nodes-filter");
let items = [];
let order = FIRST_ORDER;

export function showNodes(found) {
  items = found;
  draw();
}

/** Choose what an address has *kept*. */
export function resetNodes(kept) {
  filter.value = kept.filter;
  order = kept.order != null && SORTED_BY.has(kept.order.column) ? kept.order : FIRST_ORDER;
}

/** *changed* is called with what an address has to keep, when a person has chosen something. */
export function listenToNodes(changed) {
  const redraw = () => {
    draw();
    changed({ filter: filter.value, order: sameOrder(order, FIRST_ORDER) ? null : order });
  };
  filter.addEventListener("input", redraw);
  onSort(table, (column) => {
    order = reordered(order, column);
    redraw();
  });
}

function draw() {
  const { rows, count } = listed(items, filter.value, order);
  text(byId("nodes-shown"), shownOf(rows.length, count, items));
  showSorted(table, order);
  hide(table, rows.length === 0);
  keyed(table.tBodies[0], rows, () => fromTemplate("node"), fill);
}

function fill(element, row) {
  const [name, cpu, memory, waiting, processes, seen] = element.cells;
  const [link, badges] = name.children;
  text(link, row.name);
  attribute(link, "href", row.href);
  text(badges.firstElementChild, row.stale ? "stale" : "");
  hide(badges.firstElementChild, !row.stale);
  fillShare(cpu, row.cpu, row.cpuText);
  fillShare(memory, row.memory, row.memoryText);
  text(waiting.firstElementChild, row.waitingText);
  attribute(waiting, "data-quiet", row.waiting == null || row.waiting < 1);
  text(processes.firstElementChild, String(row.processes));
  text(seen.firstElementChild, row.seenText);
}

function fillShare(cell, share, [value, whole]) {
  const [bar, valueShown, wholeShown] = cell.children;
  width(bar, share);
  text(valueShown, value);
  text(wholeShown, whole);
}
