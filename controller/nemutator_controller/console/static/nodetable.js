// The table of nodes: where the page begins when there is more than one.

import { attribute, byId, fromTemplate, hide, keyed, onSort, showSorted, text, width } from "./dom.js";
import { FIRST_ORDER, listed, reordered, shownOf } from "./nodes.js";

const table = byId("nodes-table");
const filter = byId("nodes-filter");
let items = [];
let order = FIRST_ORDER;

export function showNodes(found) {
  items = found;
  draw();
}

export function listenToNodes() {
  filter.addEventListener("input", draw);
  onSort(table, (column) => {
    order = reordered(order, column);
    draw();
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
