// The page: asks the brain every few seconds, and lets each part show what it answered.

import * as brain from "./brain.js";
import { attribute, byId, fromTemplate, hide, keyed, text } from "./dom.js";
import { parse } from "./filter.js";
import { span, visible } from "./format.js";
import { lacking, merge } from "./history.js";
import { askForProfile, showList, takeBack } from "./listing.js";
import { LISTS } from "./lists.js";
import { followPointer, showBlindSpots, showHistory, showMachine } from "./machine.js";
import { build, count, summary } from "./tree.js";
import { TreeGrid } from "./treegrid.js";

const EVERY_MS = 3000;
const LONGEST_WAIT_MS = 6000;

/** Why there may be no answer; anything else is a defect of this page. */
const REASONS = [brain.LostError, brain.RefusedError, brain.SignedOutError];

const grid = new TreeGrid();

/** What is known now. `problem` is why the last question had no answer; null when it had one. */
const state = {
  nodes: null,
  chosen: null,
  points: [],
  roots: [],
  list: null,
  document: null,
  answeredAt: null,
  problem: null,
  failures: 0,
};

const now = () => performance.now() / 1000;

const shownNode = () =>
  state.nodes?.find((node) => node.name === state.chosen) ?? state.nodes?.[0] ?? null;

async function refresh() {
  try {
    if (state.list) {
      const asked = state.list;
      const document = await brain.get(LISTS[asked].path);
      if (state.list === asked) {
        Object.assign(state, { document, answeredAt: now(), problem: null, failures: 0 });
      }
      return;
    }
    const answer = await brain.topology();
    Object.assign(state, { nodes: answer.nodes, answeredAt: now(), problem: null, failures: 0 });
    const node = shownNode();
    if (node) {
      const asked = node.name;
      const { points } = await brain.history(asked, lacking(state.points, node.seen_at));
      if (shownNode()?.name === asked) state.points = merge(state.points, points);
    }
  } catch (error) {
    if (!REASONS.some((reason) => error instanceof reason)) throw error;
    Object.assign(state, { problem: error, failures: state.failures + 1 });
  }
}

function show() {
  for (const link of byId("views").children) {
    const current = link.hash === `#${state.list ?? "topology"}`;
    attribute(link, "aria-current", current ? "page" : null);
  }
  hide(byId("lists"), state.list == null);
  hide(byId("keys"), state.list != null);
  if (state.list) showListed();
  else showTopology();
}

function showListed() {
  hide(byId("main"), true);
  hide(byId("nodes"), true);
  showBanner(null);
  const late = state.problem != null;
  const seen = late ? `last seen ${span(now() - state.answeredAt)} ago` : "live";
  text(byId("freshness"), state.answeredAt == null ? "…" : seen);
  attribute(byId("freshness"), "data-late", late);
  document.title = `${LISTS[state.list].title} · nemutator`;
  showList(LISTS[state.list], state.document, askToTakeBack);
}

async function askToTakeBack(wanted) {
  await takeBack(wanted);
  look();
}

function showTopology() {
  const node = shownNode();
  hide(byId("main"), node == null);
  showBanner(node);
  showFreshness(node);
  document.title = node ? `${visible(node.name)} · nemutator` : "nemutator";
  if (!node) return;
  showNodes(node);
  showMachine(node);
  showHistory(state.points);
  attribute(byId("history-link"), "href", brain.historyPath(node.name, 3600));
  state.roots = build(node);
  grid.show(state.roots, node.machine);
  showCount();
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

function showNodes(node) {
  hide(byId("nodes"), state.nodes.length < 2);
  keyed(
    byId("node"),
    state.nodes.map(({ name }) => ({ key: name })),
    () => document.createElement("option"),
    (option, { key }) => {
      text(option, visible(key));
      option.value = key;
    },
  );
  byId("node").value = node.name;
}

/** The list that the address names, or null for the topology. */
function choose() {
  const wanted = location.hash.slice(1);
  const list = Object.hasOwn(LISTS, wanted) ? wanted : null;
  if (list !== state.list) {
    Object.assign(state, { list, document: null, answeredAt: null });
    byId("list-filter").value = "";
  }
  text(byId("list-said"), "");
}

const since = (node) => node.age_s + (now() - state.answeredAt);

function showFreshness(node) {
  const element = byId("freshness");
  if (!node) return text(element, state.problem ? "" : "waiting …");
  const late = node.stale || state.problem != null;
  attribute(element, "data-late", late);
  return text(element, `${late ? "last seen " : ""}${span(since(node))} ago`);
}

function showBanner(node) {
  const said = bannerText(node);
  const banner = byId("banner");
  hide(banner, said == null);
  text(banner, said ?? "");
  document.body.classList.toggle("late", said != null && node != null);
}

function bannerText(node) {
  if (state.problem instanceof brain.SignedOutError) {
    return `This session has ended: ${visible(state.problem.message)}.`;
  }
  if (state.problem instanceof brain.RefusedError) {
    return `${visible(state.problem.message)} → ${visible(state.problem.remedy)}`;
  }
  if (state.problem) {
    const kept = node ? "What you see is the last answer." : "";
    return `The controller does not answer: ${state.problem.message}. ${kept} Trying again …`;
  }
  if (!state.list && state.nodes?.length === 0) {
    return "No agent has reported yet: the first report takes a few seconds after the start.";
  }
  if (node?.stale) {
    return `No news from ${visible(node.name)}: its agent is down, or cannot reach the controller.`;
  }
  return null;
}

function showCount() {
  const matches = parse(byId("filter").value);
  const found = matches ? count(state.roots, matches) : null;
  text(byId("shown"), matches ? `${found} of ${summary(state.roots)}` : summary(state.roots));
  hide(byId("empty"), found !== 0);
  text(
    byId("empty"),
    "Nothing matches. Words are looked for in names; runtime:go, kind:container, pid:1 and path:… ask for more.",
  );
}

/** Look again now instead of after a while. */
let look = () => {};

/** Resolves after *ms*, when asked to, or when the page is shown again. Never while it is hidden. */
function nextLook(ms) {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden) return;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    document.addEventListener("visibilitychange", done);
    look = done;
  });
}

function listen() {
  const filter = byId("filter");
  filter.addEventListener("input", () => {
    grid.filter(parse(filter.value));
    showCount();
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      grid.focusFirst();
    }
  });
  document.addEventListener("keydown", (event) => {
    const box = state.list ? byId("list-filter") : filter;
    const typing = event.target.matches("input, select, textarea") || byId("rollback").open;
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    if (event.key === "Escape" && box.value && !byId("rollback").open) {
      box.value = "";
      box.dispatchEvent(new Event("input"));
    }
  });
  byId("list-filter").addEventListener("input", show);
  byId("expand").addEventListener("click", () => grid.foldAll(true));
  byId("collapse").addEventListener("click", () => grid.foldAll(false));
  byId("node").addEventListener("change", (event) => {
    Object.assign(state, { chosen: event.target.value, points: [] });
    grid.reset();
    show();
  });
  followPointer(() => showHistory(state.points));
  window.addEventListener("hashchange", () => {
    choose();
    show();
    look();
  });
  byId("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    await askForProfile(event.target);
    look();
  });
  // Between two answers only the age grows.
  setInterval(() => {
    if (!state.list) showFreshness(shownNode());
  }, 1000);
}

listen();
choose();
for (;;) {
  try {
    await refresh();
    show();
  } catch (error) {
    // A defect of this page must neither freeze it unseen nor hide the next good answer.
    console.error(error);
    hide(byId("banner"), false);
    text(byId("banner"), `This page has a defect: ${error.message}`);
  }
  await nextLook(Math.min(LONGEST_WAIT_MS, EVERY_MS * 2 ** Math.max(0, state.failures - 3)));
}
