// What is shown of one node: its readings, what runs on it, and what its agent cannot see.

import * as brain from "./brain.js";
import { attribute, byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { equipment } from "./equipment.js";
import { parse } from "./filter.js";
import { counted, visible } from "./format.js";
import { listenToHistory, resetHistory, showBlindSpots, showHistory, showMachine } from "./machine.js";
import { build, count, summary } from "./tree.js";
import { TreeGrid } from "./treegrid.js";

const grid = new TreeGrid();
const filter = byId("filter");
let roots = [];

/** Show *node* with its history; *others* is how many nodes there are beside it. */
export function showNode(node, history, others) {
  hide(byId("all-nodes"), others === 0);
  text(byId("all-nodes").firstElementChild, `← all ${counted(others + 1, "node")}`);
  showMachine(node);
  showHistory(history);
  attribute(byId("history-link"), "href", brain.historyPath(node.name, 3600));
  attribute(byId("topology-link"), "href", brain.topologyPath(node.name));
  roots = build(node);
  grid.show(roots, node.machine);
  showCount();
  showEquipment(equipment(node.machine));
  showBlindSpots(node.missing);
  keyed(
    byId("missing-list"),
    node.missing.map((fact) => ({ key: `${fact.what}\n${fact.why}`, ...fact })),
    () => fromTemplate("blind-spot"),
    (item, { what, why, remedy }) => {
      const [whatShown, whyShown, remedyShown] = item.children;
      text(whatShown, visible(what));
      text(whyShown, visible(why));
      text(remedyShown, visible(remedy));
    },
  );
}

function showEquipment(parts) {
  hide(byId("equipment"), parts.length === 0);
  keyed(
    byId("equipment-rows"),
    parts,
    () => fromTemplate("part"),
    (element, { cells, grade }) => {
      cells.forEach((said, index) => text(element.children[index].firstElementChild, said));
      attribute(element, "data-grade", grade);
    },
  );
}

/** Forget what a person chose, because another place is shown, and choose what its address has *kept*. */
export function resetNode(kept) {
  filter.value = kept.filter;
  grid.restore(kept, parse(kept.filter));
  resetHistory();
}

/** *changed* is called with what an address has to keep, when a person has chosen something. */
export function listenToNode(changed) {
  const tell = () => changed({ ...grid.kept, filter: filter.value });
  grid.listen(tell);
  filter.addEventListener("input", () => {
    grid.filter(parse(filter.value));
    showCount();
    tell();
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      grid.focusFirst();
    }
  });
  byId("expand").addEventListener("click", () => grid.foldAll(true));
  byId("collapse").addEventListener("click", () => grid.foldAll(false));
  listenToHistory();
}

function showCount() {
  const matches = parse(filter.value);
  const found = matches ? count(roots, matches) : null;
  text(byId("shown"), matches ? `${found} of ${summary(roots)}` : summary(roots));
  hide(byId("empty"), found !== 0);
  text(
    byId("empty"),
    "Nothing matches. Words are looked for in names; runtime:go, kind:container, pid:1 and path:… ask for more.",
  );
}
