// The page of one workload: what it used, against what it requests and what is usual for it.

import { attribute, byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { span, visible } from "./format.js";
import { historyHref } from "./inventory.js";
import { filteredHref } from "./lists.js";
import { SPANS, plots } from "./plots.js";
import { MOST, busy, changes, seasonOf, state } from "./workloadmarks.js";

/** Lists that are narrowed by its name. */
const ELSEWHERE = {
  Profile: "profiles",
  Advice: "advice",
  Ageing: "ageing",
  Neighbours: "neighbours",
  Mutations: "mutations",
  Leases: "leases",
  Audit: "grants",
  Flows: "flows",
};

/** By figure: which step a person looks at; the last one without a choice. */
const looked = new Map();

/** The address of *row*'s page with another container, or another span. */
function hrefOf(row, change) {
  const { namespace, kind, name, container, back } = { ...row, ...change };
  return historyHref(namespace, kind, name, container ?? "", back);
}

/** Show *row*: what the address names; *found* is what the brain said of it, null before it did. */
export function showRow(row, found) {
  const { namespace, kind, name } = row;
  text(byId("row-title"), visible(`${namespace.replace(/\/$/, "")}/${name}`));
  text(byId("row-kind"), visible(kind));
  tabs("row-spans", Object.keys(SPANS), row.back, (back) => hrefOf(row, { back }));
  tabs("row-elsewhere", Object.keys(ELSEWHERE), null, (list) => filteredHref(ELSEWHERE[list], name));
  const containers = found?.containers ?? [];
  hide(byId("row-containers"), containers.length < 2);
  tabs("row-containers", containers, found?.row.container, (container) => hrefOf(row, { container }));
  const document = found?.document ?? null;
  const marks = document == null ? null : marksOf(found);
  const drawn = document == null ? [] : plots(document, found.demand, marks);
  const empty = found != null && drawn.length === 0;
  hide(byId("row-empty"), !empty);
  text(byId("row-empty"), emptyBecause(containers, document));
  hide(byId("row-legend"), drawn.length === 0);
  hide(byId("row-json-line"), document == null);
  attribute(byId("row-json"), "href", document == null ? null : found.path);
  text(byId("row-about"), document == null ? "" : about(document));
  const now = document == null ? "" : state(found.item, seasonOf(found.seasons, found.row));
  text(byId("row-state"), now);
  hide(byId("row-state"), now === "");
  showChanges(marks?.listed ?? []);
  keyed(byId("row-plots"), drawn, made, (element, plot) => fill(element, plot, document));
}

/** What is marked in the plots of *found*. */
function marksOf({ row, document, mutations, seasons }) {
  const listed = changes(mutations, document);
  return { listed, changed: listed.map(({ step }) => step), busy: busy(seasons, seasonOf(seasons, row), document) };
}

function showChanges(listed) {
  hide(byId("row-changes"), listed.length === 0);
  keyed(
    byId("row-changes-lines"),
    listed.slice(0, MOST),
    () => {
      const element = globalThis.document.createElement("li");
      element.append(globalThis.document.createElement("a"));
      return element;
    },
    (element, { key, at, text: what, title }) => {
      text(element.firstElementChild, `${written(at)}: ${what}`);
      attribute(element.firstElementChild, "href", filteredHref("mutations", `id:${key}`));
      attribute(element, "title", title);
    },
  );
  const more = listed.length - MOST;
  text(byId("row-changes-more"), more > 0 ? `and ${more} more` : "");
}

const written = (at) =>
  new Date(1000 * at).toLocaleString([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

function emptyBecause(containers, document) {
  if (containers.length === 0) {
    return "Nothing is known of this workload: history begins with the first quarter of a minute that an agent reports of it.";
  }
  return document == null ? "" : "Nothing was reported of this time. A longer one may have more.";
}

/** What each point stands for, what could not be had. */
function about(document) {
  const { steps, step_s: step, older } = document;
  const words = [`${span(steps * step)} in steps of ${span(step)}`];
  if (older?.missing) words.push(`what is older is not known: ${visible(older.missing)}`);
  else if (older) words.push(`what is older than a day comes from ${visible(older.source)}`);
  if (document.week == null) words.push("what is usual is known after the first whole hour");
  return words.filter(Boolean).join("; ");
}

function tabs(id, names, current, href) {
  keyed(
    byId(id),
    names.map((name) => ({ key: name, name })),
    () => globalThis.document.createElement("a"),
    (link, { name }) => {
      text(link, visible(name));
      attribute(link, "href", href(name));
      attribute(link, "aria-current", name === current ? "true" : null);
    },
  );
}

function made(plot) {
  const element = fromTemplate("plot");
  const slider = element.querySelector("input");
  slider.addEventListener("input", () => {
    const last = Number(slider.max);
    // Who looks at the newest moment goes on seeing the newest.
    if (Number(slider.value) === last) looked.delete(plot.key);
    else looked.set(plot.key, Number(slider.value));
    say(element);
  });
  return element;
}

function fill(element, plot, document) {
  const [heading, top, svg, slider, output, words] = element.children;
  element.shown = { plot, document };
  text(heading, plot.title);
  text(top, plot.top);
  for (const path of svg.children) attribute(path, "d", plot.paths[path.dataset.of]);
  attribute(svg, "aria-label", `${plot.title}: ${plot.words}`);
  const last = Math.max(0, plot.steps - 1);
  attribute(slider, "max", last);
  attribute(slider, "aria-label", `moment of ${plot.title}`);
  slider.value = String(Math.min(last, looked.get(plot.key) ?? last));
  text(words, plot.words);
  say(element);
}

/** Write what was at the moment that the slider of *element* stands at. */
function say(element) {
  const { plot, document } = element.shown;
  const [, , , slider, output] = element.children;
  const index = Number(slider.value);
  text(output, `${written(document.from_at + index * document.step_s)}: ${plot.at(index)}`);
  attribute(slider, "aria-valuetext", output.textContent);
}

/** Forget what was looked at, because something else is shown. */
export const resetRow = () => looked.clear();
