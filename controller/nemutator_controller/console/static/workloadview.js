// The page of one workload: what it used, against what it requests and what is usual for it.

import { attribute, byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { showDetails } from "./details.js";
import { diff } from "./edits.js";
import { span, visible } from "./format.js";
import { historyHref } from "./inventory.js";
import { filteredHref } from "./lists.js";
import { SPANS, plots } from "./plots.js";
import { showProfiles } from "./profileview.js";
import { TimePlots } from "./timeplots.js";
import { harms, verdicts } from "./workloadfindings.js";
import { secretLines } from "./workloadsecrets.js";
import { MOST, busy, changes, deployed, seasonOf, state } from "./workloadmarks.js";

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

const charts = new TimePlots();

/** The address of *row*'s page with another container, another span, or other profiles. */
export function hrefOf(row, change) {
  const { namespace, kind, name, container, back, cluster, profiles } = { ...row, ...change };
  const chosen = profiles.after == null ? [] : [profiles.after, profiles.before ?? ""];
  const where = cluster == null && chosen.length === 0 ? [] : [cluster ?? ""];
  return historyHref(namespace, kind, name, container ?? "", back, ...where, ...chosen);
}

/**
 * Show *row*: what the address names; *found* is what the brain said of it, null before it did. *takeBack* asks a person
 * about a change.
 */
export function showRow(row, found, takeBack) {
  const { namespace, kind, name, cluster } = row;
  text(byId("row-title"), visible(`${namespace.replace(/\/$/, "")}/${name}`));
  text(byId("row-kind"), visible(cluster == null ? kind : `${kind} of ${cluster}`));
  tabs("row-spans", Object.keys(SPANS), row.back, (back) => hrefOf(row, { back }));
  hide(byId("row-elsewhere"), cluster != null);
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
  hide(byId("row-json-line"), document == null);
  attribute(byId("row-json"), "href", document == null ? null : found.path);
  text(byId("row-about"), document == null ? "" : about(document));
  const now = document == null ? "" : state(found.item, seasonOf(found.seasons, found.row));
  text(byId("row-state"), now);
  hide(byId("row-state"), now === "");
  showChanges(marks?.listed ?? [], takeBack);
  showVerdicts("row-ageing", found == null ? [] : verdicts(found.ageing, row));
  showVerdicts("row-secrets", secretLines(found?.leases, found?.grants, Date.now() / 1000));
  showVerdicts("row-neighbours", found == null ? [] : harms(found.neighbours, row));
  showProfiles(found?.profile ?? null, written);
  showPlots(drawn);
}

function showPlots(drawn) {
  const plotOf = new Map();
  keyed(
    byId("row-plots"),
    drawn,
    () => fromTemplate("plot"),
    (element, plot) => {
      text(element.querySelector("h2"), plot.title);
      attribute(element.querySelector("input"), "aria-label", `moment of ${plot.title}`);
      text(element.querySelector(".caption"), plot.words);
      plotOf.set(element, { ...plot, tell: (index) => told(plot, index) });
    },
  );
  charts.show(plotOf);
  showZoom(drawn.length > 0);
}

/** What was at one step: the moment and what happened then, and the whole sentence. */
function told(plot, index) {
  const { amounts, events } = plot.at(index);
  const when = written(plot.from + index * plot.step);
  return { short: [when, events].filter(Boolean).join(": "), full: [`${when}: ${amounts}`, events].filter(Boolean).join("; ") };
}

const ZOOMS = { in: 0.5, out: 2, whole: Infinity };

function showZoom(shown) {
  hide(byId("row-zoom"), !shown);
  for (const button of byId("row-zoom").children) button.disabled = button.dataset.zoom !== "in" && !charts.isZoomed;
}

/** Listen to what is asked of all plots together. */
export function listenToRow() {
  charts.onZoom = () => showZoom(true);
  byId("row-zoom").addEventListener("click", ({ target }) => {
    if (Object.hasOwn(ZOOMS, target.dataset.zoom ?? "")) charts.zoom(ZOOMS[target.dataset.zoom]);
  });
}

/** What is marked in the plots of *found*. */
function marksOf({ row, document, mutations, deploys, seasons }) {
  const listed = changes(mutations, document);
  const changed = listed.map(({ step }) => step);
  return { listed, changed, deployed: deployed(deploys, document), busy: busy(seasons, seasonOf(seasons, row), document) };
}

function showVerdicts(section, listed) {
  hide(byId(section), listed.length === 0);
  keyed(
    byId(`${section}-lines`),
    listed,
    () => {
      const element = globalThis.document.createElement("li");
      const link = globalThis.document.createElement("a");
      Object.assign(link, { target: "_blank", rel: "noopener", textContent: "what grew" });
      element.append(globalThis.document.createElement("span"), " ", link);
      return element;
    },
    (element, line) => {
      const [words, link] = element.children;
      text(words, line.text);
      attribute(words, "data-grade", line.grade);
      hide(link, line.href == null);
      attribute(link, "href", line.href);
    },
  );
}

function showChanges(listed, takeBack) {
  hide(byId("row-changes"), listed.length === 0);
  keyed(
    byId("row-changes-lines"),
    listed.slice(0, MOST),
    () => {
      const element = globalThis.document.createElement("li");
      element.append(globalThis.document.createElement("a"), " ");
      for (const name of ["Diff", "Take back …"]) {
        const button = globalThis.document.createElement("button");
        Object.assign(button, { type: "button", textContent: name });
        element.append(button, " ");
      }
      const [, differs, back] = element.children;
      differs.addEventListener("click", () => showDetails(element.shows));
      back.addEventListener("click", () => takeBack(element.rollback));
      return element;
    },
    (element, { key, at, text: what, title, edits, rollback }) => {
      const [link, , back] = element.children;
      text(link, `${written(at)}: ${what}`);
      attribute(link, "href", filteredHref("mutations", `id:${key}`));
      attribute(element, "title", title);
      element.shows = { title: `What was changed: ${what}`, lines: diff(edits) };
      element.rollback = rollback;
      hide(back, rollback == null);
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
  if (older?.warnings?.length) words.push(`with a warning: ${visible(older.warnings.join("; "))}`);
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

/** Forget which moment was read, because something else is shown. */
export const resetRow = () => charts.reset();
