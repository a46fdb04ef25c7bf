// The map of who talks to whom, drawn.

import { attribute, byId, hide, keyed, text } from "./dom.js";
import { map } from "./flowmap.js";

const drawing = (name) => globalThis.document.createElementNS("http://www.w3.org/2000/svg", name);

function line() {
  const path = drawing("path");
  path.append(drawing("title"));
  return path;
}

function box() {
  const group = drawing("g");
  group.append(drawing("title"), drawing("rect"), drawing("text"));
  return group;
}

/** Show *flows*; null where another list is shown. */
export function showMap(flows) {
  const found = flows == null ? null : map(flows);
  hide(byId("map"), found == null);
  if (found == null) return;
  const svg = byId("map-drawing");
  for (const [name, value] of [["width", found.width], ["height", found.height], ["viewBox", `0 0 ${found.width} ${found.height}`], ["aria-label", found.words]]) {
    attribute(svg, name, value);
  }
  keyed(byId("map-lines"), found.lines, line, (element, { d, width, title }) => {
    attribute(element, "d", d);
    attribute(element, "stroke-width", width);
    text(element.firstElementChild, title);
  });
  keyed(byId("map-boxes"), found.boxes, box, (element, one) => {
    const [title, rect, label] = element.children;
    text(title, one.title);
    attribute(element, "data-kind", one.kind);
    for (const name of ["x", "y", "width", "height"]) attribute(rect, name, one[name]);
    attribute(label, "x", one.x + 10);
    attribute(label, "y", one.y + one.height / 2 + 4);
    text(label, one.text);
  });
  text(byId("map-words"), found.words);
}
