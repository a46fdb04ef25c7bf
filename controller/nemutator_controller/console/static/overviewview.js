// The overview on the page: four cards of lines, each of which leads to where all of it is.

import { attribute, byId, fromTemplate, hide, keyed, text, width } from "./dom.js";
import { span } from "./format.js";
import { MOST, calm, changed, health, isCut, sums, unread, wasted, wrong } from "./overview.js";

/** Show *answers*, which came at *now*; null before they came. */
export function showOverview(answers, now, warning) {
  if (answers == null) return;
  const bad = wrong(answers, now);
  fill("wrong", bad.slice(0, MOST), now, bad.length - MOST, isCut(answers) ? "at least " : "");
  hide(byId("wrong-none"), bad.length > 0);
  text(byId("wrong-none"), calm(answers));
  const idle = wasted(answers);
  fill("wasted", idle, now);
  hide(byId("wasted-none"), idle.length > 0);
  text(byId("wasted-sums"), sums(answers));
  const lately = changed(answers);
  fill("changed", lately, now);
  hide(byId("changed-none"), lately.length > 0);
  fill("health", health(answers, warning), now);
  text(byId("overview-unread"), unread(answers));
}

function fill(name, lines, now, more = 0, atLeast = "") {
  const rows = lines.map((line, index) => ({ ...line, key: `${index}\n${line.href ? "a" : "p"}${line.waste == null ? "" : "w"}` }));
  keyed(byId(`${name}-lines`), rows, () => fromTemplate("overview-line"), (element, row) => draw(element, row, now));
  const rest = byId(`${name}-more`);
  if (rest) {
    hide(rest, !(more > 0));
    text(rest, more > 0 ? `and ${atLeast}${more} more` : "");
  }
}

function draw(element, row, now) {
  const link = element.querySelector("a");
  const plain = element.querySelector(".plain");
  hide(link, row.href == null);
  hide(plain, row.href != null);
  attribute(link, "href", row.href);
  text(row.href == null ? plain : link, row.text);
  attribute(element, "data-grade", row.grade);
  const side = element.querySelector(".side");
  text(side, row.waste ?? (row.at == null ? "" : `${span(now - row.at)} ago`));
  attribute(side, "title", row.why ?? null);
  const bar = element.querySelector(".idle");
  hide(bar, row.used == null);
  if (row.used != null) width(bar.firstElementChild, row.used / 100);
}
