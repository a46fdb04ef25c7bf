// What the page knows: the place that its address names, and the brain's last answer to it.

import { compared, flame } from "./flame.js";
import { chosenOf, foldedPath, profilesOf } from "./workloadfindings.js";
import * as brain from "./brain.js";
import { lacking, merge } from "./history.js";
import { NOTHING, partsOf } from "./kept.js";
import { LISTS, listOf } from "./lists.js";
import { PARTS } from "./overview.js";
import { SPANS, demandOf } from "./plots.js";
import { joined, searchOf } from "./searching.js";

/** Why there may be no answer; any other error is a defect of this page. */
const REASONS = [brain.LostError, brain.RefusedError, brain.SignedOutError];

/** Shorter than the pause between two polls while nothing moves. */
const TARGETS_EVERY_S = 2.5;

/** A question may take as long before a person is told that the answer has not come yet. */
const LONG_S = 5;

/** `problem` is why the last question had no answer; null when it had one. */
export const state = {
  /** Whether the overview is shown. */
  overview: false,
  /** By part of the overview, the brain's answer; null where this person may not have it. */
  answers: null,
  /** The brain's clock when it gave them. */
  answersAt: null,
  /** The list that is shown; null for the topology. */
  list: null,
  /** The other cluster that it is of; null for the one whose brain this is. */
  cluster: null,
  /** What the address narrows it by; null for nothing. */
  narrowedBy: null,
  /** What else of a list or of the topology a person has chosen, as the address keeps it. */
  kept: NOTHING,
  /** The workload whose history is shown, as the address names it; null for none. */
  row: null,
  /** What the brain said of it; null before. */
  rowFound: null,
  /** The node that is shown; null for all of them, or for the only one. */
  chosen: null,
  nodes: null,
  node: null,
  points: [],
  document: null,
  /** What can be profiled; null where that may not be seen. */
  targets: null,
  /** When that was asked last, and with which search; null before. */
  targetsAsked: null,
  /** What a person looks for among it. */
  search: "",
  answeredAt: null,
  /** When the question was asked whose answer has not come yet; null while none is under way. */
  askedAt: null,
  problem: null,
  failures: 0,
};

const now = () => performance.now() / 1000;

/** Seconds since the last answer; null when there was none. */
export const sinceAnswer = () => (state.answeredAt == null ? null : now() - state.answeredAt);

export const isAnsweredLate = () => state.askedAt != null && now() - state.askedAt > LONG_S;

/**
 * Go where *hash* says: `#profiles`, `#mutations/WORDS`, `#workloads@CLUSTER`, `#topology`, `#topology/NODE` or
 * `#history/NAMESPACE/KIND/NAME/CONTAINER/1d/CLUSTER/PROFILE/EARLIER_PROFILE`. After a `?` follows what was chosen there.
 */
export function goTo(hash) {
  const { path, kept } = partsOf(hash);
  const [first, ...rest] = path.split("/");
  const [view, other] = first.split("@");
  const overview = view === "overview";
  const list = Object.hasOwn(LISTS, view) && (other == null || LISTS[view].elsewhere != null) ? view : null;
  const cluster = list != null && other != null ? decoded(other) : null;
  const row = view === "history" && rest.length >= 3 ? rowIn(rest.map(decodedPart)) : null;
  const names = !overview && list == null && row == null && rest.length > 0;
  const chosen = names ? decoded(rest.join("/")) : null;
  const narrowedBy = list == null || rest.length === 0 ? null : decoded(rest.join("/"));
  state.kept = kept;
  const same = JSON.stringify(row) === JSON.stringify(state.row) && narrowedBy === state.narrowedBy && cluster === state.cluster;
  if (overview === state.overview && list === state.list && chosen === state.chosen && same) return;
  brain.leave();
  const search = list === "profiles" ? (narrowedBy ?? "") : "";
  Object.assign(state, { overview, answers: null, list, cluster, narrowedBy, chosen, row, rowFound: null, document: null, targets: null, targetsAsked: null, search, node: null, points: [], answeredAt: null, askedAt: null });
}

const rowIn = ([namespace, kind, name, container, back, cluster, after, before]) => ({
  namespace,
  kind,
  name,
  container: container || null,
  back: Object.hasOwn(SPANS, back ?? "") ? back : "1h",
  cluster: cluster || null,
  profiles: { after: after || null, before: before || null },
});

/** Show other profiles of the workload that is shown. */
export function chooseProfiles(profiles) {
  state.row = { ...state.row, profiles };
}

const decodedPart = (part) => decoded(part) ?? "";

function decoded(name) {
  try {
    return decodeURIComponent(name) || null;
  } catch {
    // A stray % that somebody typed.
    return name;
  }
}

export async function refresh() {
  const { overview, list, cluster, chosen, row } = state;
  let learned;
  state.askedAt = now();
  try {
    learned = await (overview ? overviewed() : row ? rowHistory(row) : list ? listed(list, cluster) : topology(chosen));
    Object.assign(learned, { answeredAt: now(), problem: null, failures: 0 });
  } catch (error) {
    if (error instanceof brain.LeftError) return;
    if (!REASONS.some((reason) => error instanceof reason)) throw error;
    learned = { problem: error, failures: state.failures + 1 };
  } finally {
    state.askedAt = null;
  }
  // The answer is dropped when the person has gone to another view meanwhile.
  const stays = overview === state.overview && list === state.list && cluster === state.cluster && chosen === state.chosen && row === state.row;
  if (stays) Object.assign(state, learned);
}

/** All parts of the overview at once; who may see none of them is told why. */
async function overviewed() {
  const parts = Object.entries(PARTS);
  // One that does not come in time, as of a database that is away, is no reason to show nothing of the others.
  const questions = Object.fromEntries(parts.map(([part, { path }]) => [part, brain.get(path)]));
  const given = await Promise.all(Object.values(questions).map(answeredOnly));
  if (given.every((one) => one == null)) await questions.nodes;
  const answers = Object.fromEntries(parts.map(([part], index) => [part, given[index]]));
  const told = given.find((one) => one?.now != null)?.now;
  return { answers, answersAt: told ?? Date.now() / 1000 };
}

async function listed(list, cluster) {
  const { path, searched, row } = listOf(list, cluster);
  const asked = searched ? searchOf(state.narrowedBy ?? "", searched) : null;
  const found = asked == null ? null : brain.get(`${path}&${new URLSearchParams({ search: asked.search })}`);
  const [first, second] = await Promise.all(asked?.besides ? [brain.get(path), found] : [found ?? brain.get(path)]);
  const document = second == null ? first : joined(first, second, (item) => row(item, 0).key);
  return list === "profiles" ? { document, ...(await targets()) } : { document };
}

/** What was used of *row*: of the container that is named, or of the first. */
async function rowHistory(row) {
  const { items } = await brain.historyRows(row);
  const containers = items
    .filter((one) => one.owner_kind.toLowerCase() === row.kind.toLowerCase())
    .map((one) => one.container);
  if (containers.length === 0) return { rowFound: { row, containers, document: null } };
  const wanted = containers.includes(row.container) ? row.container : containers[0];
  const known = { ...row, container: wanted };
  const path = brain.rowHistoryPath(known, SPANS[row.back]);
  // The rest is known to its own brain alone.
  const here = (question) => (row.cluster == null ? answeredOnly(question()) : null);
  const asked = {
    workload: answeredOnly(brain.workloadOf(row)),
    advice: here(() => brain.adviceOf(row)),
    mutations: here(() => brain.changesOf(row, SPANS[row.back])),
    deploys: here(() => brain.deploysOf(row, SPANS[row.back])),
    seasons: here(() => brain.seasonsOf(row.namespace, row.name)),
    ageing: here(brain.ageing),
    profiles: here(brain.profiles),
    neighbours: here(() => brain.neighboursOf(row.namespace)),
    leases: here(() => brain.leasesOf(row)),
    grants: here(() => brain.grantsOf(row)),
  };
  const [document, ...given] = await Promise.all([brain.get(path), ...Object.values(asked)]);
  // What has not come this time stays as it was.
  const before = state.rowFound ?? {};
  const beside = Object.fromEntries(
    Object.keys(asked).map((part, index) => [part, given[index] === undefined ? (before[part] ?? null) : given[index]]),
  );
  const demand = demandOf(known, beside.advice, beside.workload, containers.length);
  const item = (beside.workload?.items ?? []).find((one) => one.kind === row.kind && one.name === row.name) ?? null;
  const profile = await drawn(profilesOf(beside.profiles, row), row.profiles);
  return { rowFound: { row: known, containers, document, path, demand, item, profile, ...beside } };
}

/** The last profiles that were drawn: what is made once does not change. */
let lastDrawn = null;

async function drawn(made, wanted) {
  const { after, before } = chosenOf(made, wanted);
  if (after == null) return null;
  const ids = [after.id, before?.id].join("\n");
  if (lastDrawn?.ids !== ids) {
    const [later, earlier] = await Promise.all([after, before].filter(Boolean).map((one) => brain.folded(foldedPath(one))));
    const graphs = before == null ? { before: null, after: flame(later), changes: [] } : compared(earlier, later);
    lastDrawn = { ids, graphs };
  }
  return { made, after, before, ...lastDrawn };
}

/** An answer; null for who may not see it, which is left out then; undefined where none has come. */
async function answeredOnly(question) {
  try {
    return await question;
  } catch (error) {
    if (error instanceof brain.RefusedError) return null;
    if (error instanceof brain.LostError) return undefined;
    throw error;
  }
}

/** Who may not see the topology can still type what to profile. The brain looks at many nodes for them,
 * so a phase of a profile that is followed closely is no reason to ask again. */
async function targets() {
  const { search, targetsAsked: last } = state;
  if (last?.search === search && now() - last.at < TARGETS_EVERY_S) return {};
  const targetsAsked = { search, at: now() };
  try {
    return { targets: await brain.targets(search), targetsAsked };
  } catch (error) {
    if (error instanceof brain.RefusedError) return { targets: null, targetsAsked };
    throw error;
  }
}

async function topology(chosen) {
  // Beside a chosen node only their number is shown.
  const nodes = chosen != null && state.nodes ? state.nodes : (await brain.nodes()).items;
  const name = chosen ?? (nodes.length === 1 ? nodes[0].name : null);
  if (name == null) return { nodes, node: null, points: [] };
  const [node = null] = (await brain.topology(name)).nodes;
  if (node == null) return { nodes, node, points: [] };
  const known = state.node?.name === name ? state.points : [];
  const { points } = await brain.history(name, lacking(known, node.seen_at));
  return { nodes, node, points: merge(known, points) };
}
