// What the page knows: the place that its address names, and the brain's last answer to it.

import * as brain from "./brain.js";
import { lacking, merge } from "./history.js";
import { LISTS } from "./lists.js";

/** Why there may be no answer; any other error is a defect of this page. */
const REASONS = [brain.LostError, brain.RefusedError, brain.SignedOutError];

/** Shorter than the pause between two polls while nothing moves. */
const TARGETS_EVERY_S = 2.5;

/** `problem` is why the last question had no answer; null when it had one. */
export const state = {
  /** The list that is shown; null for the topology. */
  list: null,
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
  problem: null,
  failures: 0,
};

const now = () => performance.now() / 1000;

/** Seconds since the last answer; null when there was none. */
export const sinceAnswer = () => (state.answeredAt == null ? null : now() - state.answeredAt);

/** Go where *hash* says: `#profiles`, `#topology` or `#topology/NODE`. */
export function goTo(hash) {
  const [view, ...rest] = hash.slice(1).split("/");
  const list = Object.hasOwn(LISTS, view) ? view : null;
  const chosen = list == null && rest.length > 0 ? decoded(rest.join("/")) : null;
  if (list === state.list && chosen === state.chosen) return;
  Object.assign(state, { list, chosen, document: null, targets: null, targetsAsked: null, search: "", node: null, points: [], answeredAt: null });
}

function decoded(name) {
  try {
    return decodeURIComponent(name) || null;
  } catch {
    // A stray % that somebody typed.
    return name;
  }
}

export async function refresh() {
  const { list, chosen } = state;
  let learned;
  try {
    learned = list ? await listed(list) : await topology(chosen);
    Object.assign(learned, { answeredAt: now(), problem: null, failures: 0 });
  } catch (error) {
    if (!REASONS.some((reason) => error instanceof reason)) throw error;
    learned = { problem: error, failures: state.failures + 1 };
  }
  // The answer is dropped when the person has gone to another view meanwhile.
  if (list === state.list && chosen === state.chosen) Object.assign(state, learned);
}

async function listed(list) {
  const document = await brain.get(LISTS[list].path);
  return list === "profiles" ? { document, ...(await targets()) } : { document };
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
