// The profiles of a workload on its page: one as a flame graph, or two beside each other.

import { attribute, byId, hide, keyed, text } from "./dom.js";
import { WIDTH } from "./flame.js";
import { percent, visible } from "./format.js";
import { differenceHref, flamegraphHref, others, profileName, profileWords } from "./workloadfindings.js";

const SVG = "http://www.w3.org/2000/svg";

/** Of the whole: a smaller difference is not coloured. */
const NOTICED = 0.01;

/** Show *found*: the profiles that there are, which are chosen, and their graphs; null where there is none. */
export function showProfiles(found, written) {
  hide(byId("row-profile"), found == null);
  if (found == null) return;
  const { made, after, before, graphs } = found;
  choices("row-profile-after", made, after, written);
  const beside = others(made, after);
  hide(byId("row-profile-beside"), beside.length === 0);
  choices("row-profile-before", [null, ...beside], before, written);
  hide(byId("row-before"), before == null);
  hide(byId("row-profile-key"), before == null);
  if (before != null) showGraph("row-before", before, graphs.before, { written, grown: "less" });
  showGraph("row-after", after, graphs.after, { written, grown: "more" });
  showChanges(graphs.changes);
  text(byId("row-profile-link"), before == null ? "The whole flame graph" : "The whole difference");
  attribute(byId("row-profile-link"), "href", before == null ? flamegraphHref(after) : differenceHref(before, after));
}

/** *choose* is called with the ids of the profiles that a person wants to see. */
export function listenToProfiles(choose) {
  const chosen = (id) => byId(id).value || null;
  for (const id of ["row-profile-after", "row-profile-before"]) {
    byId(id).addEventListener("change", () => choose({ after: chosen("row-profile-after"), before: chosen("row-profile-before") }));
  }
}

function choices(id, made, chosen, written) {
  const select = byId(id);
  keyed(
    select,
    made.map((one) => ({ key: one?.id ?? "", one })),
    () => globalThis.document.createElement("option"),
    (option, { key, one }) => {
      text(option, one == null ? "nothing" : profileName(one, written));
      attribute(option, "value", key);
    },
  );
  // While the list is open, a person is choosing.
  if (globalThis.document.activeElement !== select) select.value = chosen?.id ?? "";
}

function showGraph(id, profile, graph, { written, grown }) {
  const figure = byId(id);
  const words = figure.querySelector("figcaption");
  text(words, profileWords(profile, graph.busiest, written));
  const svg = figure.querySelector("svg");
  hide(svg, graph.boxes.length === 0);
  attribute(svg, "viewBox", `0 0 ${WIDTH} ${graph.height}`);
  attribute(svg, "height", 1.2 * graph.height);
  attribute(svg, "aria-label", `Flame graph: ${words.textContent}`);
  keyed(svg, graph.boxes, box, (element, one) => fillBox(element, one, grown));
}

function box() {
  const element = globalThis.document.createElementNS(SVG, "g");
  element.append(...["title", "rect", "text"].map((name) => globalThis.document.createElementNS(SVG, name)));
  return element;
}

/** Characters of a name that fit into so many units of width. */
const fitting = (name, width) => {
  const most = Math.floor(width / 6);
  if (most < 3) return "";
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
};

const share = (value) => percent(100 * value);

/** *grown* is what the other graph's smaller share means. */
function fillBox(element, { name, x, y, width, share: part, other }, grown) {
  const [title, rect, label] = element.children;
  const differs = other != null && Math.abs(part - other) >= NOTICED;
  text(title, `${visible(name)}: ${share(part)}${other == null ? "" : `, in the other ${share(other)}`}`);
  attribute(element, "data-change", differs ? (part > other ? grown : grown === "more" ? "less" : "more") : null);
  for (const [what, value] of Object.entries({ x, y, width: Math.max(0, width - 0.5), height: 15 })) {
    attribute(rect, what, value.toFixed(2));
  }
  attribute(label, "x", (x + 3).toFixed(2));
  attribute(label, "y", y + 11);
  text(label, fitting(visible(name), width));
}

function showChanges(changes) {
  hide(byId("row-profile-changes"), changes.length === 0);
  keyed(
    byId("row-profile-changes"),
    changes.map((one) => ({ key: one.name, ...one })),
    () => globalThis.document.createElement("li"),
    (element, { name, was, is }) => {
      text(element, `${visible(name)}: ${share(was)} → ${share(is)}`);
      attribute(element, "data-change", is > was ? "more" : "less");
    },
  );
}
