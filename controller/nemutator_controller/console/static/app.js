// The page: asks the brain every few seconds, and lets each part show what it answered.

import * as brain from "./brain.js";
import { attribute, byId, hide, text } from "./dom.js";
import { span, visible } from "./format.js";
import { listenToDetails } from "./details.js";
import { listenToList, showList, takeable } from "./listing.js";
import { viewOf } from "./inventory.js";
import { hashOf } from "./kept.js";
import { areMoving, listOf } from "./lists.js";
import { listenToPicker, showTargets } from "./picker.js";
import { listenToProfiles } from "./profileview.js";
import { showOverview } from "./overviewview.js";
import { listenToEditor } from "./policyeditor.js";
import { chooseProfiles, goTo, isAnsweredLate, refresh, sinceAnswer, state } from "./polling.js";
import { hrefOf as nodeHref } from "./nodes.js";
import { listenToNodes, resetNodes, showNodes } from "./nodetable.js";
import { listenToNode, resetNode, showNode } from "./nodeview.js";
import { takeBack, takeBackAll } from "./takingback.js";
import { hrefOf, listenToRow, resetRow, showRow } from "./workloadview.js";

const EVERY_MS = 3000;
/** While a profile is made, its seconds are counted down. */
const MOVING_MS = 1000;
const LONGEST_WAIT_MS = 6000;
/** What other clusters publish and save, they do once a minute, and a brain reads much for it. */
const ELSEWHERE_MS = 20000;
/** A dozen questions at once. */
const OVERVIEW_MS = 6000;

/** Name of the node whose rows a person may have folded and unfolded; null where the address has something to say of it. */
let shownNode = null;
/** Where the list of all nodes was left. */
let allNodes = "#topology";

const cluster = () => state.row?.cluster ?? state.cluster;

const listShown = () => listOf(state.list, state.cluster);

const viewShown = () => (state.overview ? "overview" : cluster() != null ? "clusters" : state.row ? "workloads" : (state.list ?? "topology"));

function show() {
  for (const link of byId("views").querySelectorAll("a")) {
    const current = link.hash === `#${viewShown()}`;
    attribute(link, "aria-current", current ? "page" : null);
  }
  const several = !state.overview && state.list == null && state.row == null && state.node == null && state.nodes?.length > 1;
  const listsNodes = several && state.chosen == null;
  hide(byId("overview"), !state.overview);
  hide(byId("lists"), state.list == null);
  hide(byId("nodes"), !listsNodes);
  hide(byId("row-history"), state.row == null);
  hide(byId("main"), state.node == null);
  hide(byId("keys"), state.node == null);
  hide(byId("of-node"), state.node == null);
  showBanner();
  showFreshness();
  const title = state.overview ? "Overview" : state.list ? listShown().title : state.row ? visible(state.row.name) : state.node && visible(state.node.name);
  document.title = title ? `${title} · nemutator` : "nemutator";
  showTargets(state.list === "profiles" ? state.targets : null);
  if (state.overview) showOverview(state.answers, state.answersAt, brain.warning);
  else if (state.row) showRow(state.row, state.rowFound, askToTakeBack);
  else if (state.list) showList(listShown(), state.document, state.kept.order, askToTakeBack);
  else if (listsNodes) showNodes(state.nodes);
  else if (state.node) showChosen();
}

function showChosen() {
  if (shownNode !== state.node.name) resetNode(state.kept);
  shownNode = state.node.name;
  showNode(state.node, state.points, state.nodes.length - 1);
  attribute(byId("all-nodes").firstElementChild, "href", allNodes);
}

async function askToTakeBack(wanted) {
  await takeBack(wanted);
  pollNow();
}

/** Whether what is shown is older than it should be. */
const isLate = () => state.problem != null || isAnsweredLate() || Boolean(state.node?.stale);

function showFreshness() {
  const element = byId("freshness");
  const waited = sinceAnswer();
  if (waited == null) return text(element, state.problem ? "" : "waiting …");
  const late = isLate();
  attribute(element, "data-late", late);
  if (state.node == null && !late) return text(element, "live");
  const seen = waited + (state.node?.age_s ?? 0);
  return text(element, `${late ? "last seen " : ""}${span(seen)} ago`);
}

function showBanner() {
  const shown = bannerText();
  const banner = byId("banner");
  hide(banner, shown == null);
  text(banner, shown ?? "");
  document.body.classList.toggle("late", isLate() && state.answeredAt != null);
}

function bannerText() {
  if (state.problem instanceof brain.SignedOutError) {
    return `This session has ended: ${visible(state.problem.message)}.`;
  }
  if (state.problem instanceof brain.RefusedError) {
    return `${visible(state.problem.message)} → ${visible(state.problem.remedy)}`;
  }
  const kept = state.answeredAt == null ? "" : "What you see is the last answer.";
  if (state.problem) return `The controller does not answer: ${state.problem.message}. ${kept} Trying again …`;
  if (isAnsweredLate()) return `The controller does not answer yet. ${kept} Waiting …`;
  if (brain.warning) return `The controller has a problem: ${visible(brain.warning)}.`;
  if (state.overview || state.list || state.row || state.answeredAt == null) return null;
  if (state.chosen != null && state.node == null) {
    return `No node called ${visible(state.chosen)} reports to this controller. Topology shows those that do.`;
  }
  if (state.nodes.length === 0) {
    return "No agent has reported yet: the first report takes a few seconds after the start.";
  }
  if (state.node?.stale) {
    return `No news from ${visible(state.node.name)}: its agent is down, or cannot reach the controller.`;
  }
  return null;
}

let wake = () => {};
/** Whether something was asked for that the answer under way does not have. */
let hurried = false;

/** Ask again now instead of after a while. */
function pollNow() {
  hurried = true;
  wake();
}

/** Resolves after *ms*, when asked to, or when the page is shown again. Never while it is hidden. */
function nextPoll(ms) {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden) return;
      hurried = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    document.addEventListener("visibilitychange", done);
    wake = done;
    if (hurried) done();
  });
}

/** Null where there is nothing to filter. */
function filterBox() {
  if (state.row || state.overview) return null;
  if (state.list) return byId("list-filter");
  return byId(state.node ? "filter" : "nodes-filter");
}

/** Scroll *within* so far that *element* is seen, and not the whole page with it. */
function reveal(within, element) {
  if (element == null) return;
  const [outer, inner] = [within, element].map((one) => one.getBoundingClientRect());
  within.scrollTop += Math.max(0, inner.bottom - outer.bottom) + Math.min(0, inner.top - outer.top);
  within.scrollLeft += Math.max(0, inner.right - outer.right) + Math.min(0, inner.left - outer.left);
}

function go() {
  goTo(location.hash);
  resetRow();
  byId("ask").reset();
  byId("list-filter").value = state.list === "profiles" ? state.kept.filter : (state.narrowedBy ?? "");
  shownNode = null;
  if (isTopology() && state.chosen == null) {
    resetNodes(state.kept);
    allNodes = location.hash || "#topology";
  }
  byId("ask").elements.target.value = state.search;
  reveal(byId("views"), byId("views").querySelector("[aria-current]"));
  text(byId("list-outcome"), "");
  text(byId("row-outcome"), "");
}

const isTopology = () => !state.overview && state.list == null && state.row == null;

/** The address of what is shown, without what was chosen there. */
function pathShown() {
  if (state.list == null) return state.chosen == null ? "topology" : nodeHref(state.chosen).slice(1);
  const view = viewOf(state.list, state.cluster);
  return state.narrowedBy == null ? view : `${view}/${encodeURIComponent(state.narrowedBy)}`;
}

/** What a person has chosen belongs to the address, so that it can be sent to somebody, and stays after a reload. */
function keep(chosen) {
  state.kept = { ...state.kept, ...chosen };
  history.replaceState(null, "", hashOf(pathShown(), state.kept));
  if (isTopology() && state.chosen == null) allNodes = location.hash;
}

/** The words that narrow a list stand in its place; that of profiles names a target. */
function keepFilter(words) {
  if (state.list === "profiles") return keep({ filter: words });
  state.narrowedBy = words || null;
  return keep({});
}

function listen() {
  listenToNode(keep);
  listenToNodes(keep);
  listenToRow();
  listenToProfiles((profiles) => {
    chooseProfiles(profiles);
    history.replaceState(null, "", hrefOf(state.row, {}));
    pollNow();
  });
  document.addEventListener("keydown", (event) => {
    const box = filterBox();
    const inDialog = document.querySelector("dialog[open]") != null;
    const typing = event.target.matches("input, select, textarea") || inDialog;
    if (box == null) return;
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    if (event.key === "Escape" && box.value && !inDialog) {
      box.value = "";
      box.dispatchEvent(new Event("input"));
    }
  });
  byId("list-filter").addEventListener("input", () => {
    show();
    keepFilter(byId("list-filter").value);
    if (listShown().searched) pollNow();
  });
  listenToList((order) => {
    keep({ order });
    show();
  });
  listenToDetails();
  listenToEditor(pollNow);
  byId("take-back-all").addEventListener("click", async () => {
    await takeBackAll(takeable());
    pollNow();
  });
  window.addEventListener("hashchange", () => {
    go();
    show();
    // Another place begins at its top, wherever a person was in the last one.
    window.scrollTo(0, 0);
    pollNow();
  });
  listenToPicker({
    search: (words) => {
      state.search = words;
      pollNow();
    },
    asked: () => pollNow(),
  });
  // Between two answers only the age grows, until the next one is late.
  setInterval(() => {
    showFreshness();
    if (isAnsweredLate()) showBanner();
  }, 1000);
}

/** Whether somebody has just come, to a cluster: a morning there begins with what is wrong. A machine alone is
 * its own overview. */
const isLanding = () => location.hash === "" && state.nodes?.length > 1;

listen();
go();
for (;;) {
  try {
    await refresh();
    if (isLanding()) location.replace("#overview");
    else show();
  } catch (error) {
    // A defect of this page must neither freeze it unseen nor hide the next good answer.
    console.error(error);
    hide(byId("banner"), false);
    text(byId("banner"), `This page has a defect: ${error.message}`);
  }
  const moving = state.list === "profiles" && areMoving(state.document?.items ?? []);
  const every = cluster() != null ? ELSEWHERE_MS : moving ? MOVING_MS : state.overview ? OVERVIEW_MS : EVERY_MS;
  await nextPoll(Math.min(Math.max(LONGEST_WAIT_MS, every), every * 2 ** Math.max(0, state.failures - 3)));
}
