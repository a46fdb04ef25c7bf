// The brain, as this page may ask it: answers, or one of three reasons why there is none.

import { ofCluster } from "./inventory.js";

/** No answer that can be read came back in time: the question is asked again. */
export class LostError extends Error {}

/** The person has gone to another place, where nobody waits for this answer. */
export class LeftError extends Error {}

/** The brain does not answer this session any more: the message says what a person must do. */
export class SignedOutError extends Error {}

/** The brain refuses, and says what a person can do about it. */
export class RefusedError extends Error {
  constructor(what, remedy) {
    super(what);
    this.remedy = remedy;
  }
}

/** The problems that the brain named in its last answer; empty when there are none. */
export let warning = "";

const warningIn = (header) => /^299 \S+ "(.*)"$/.exec(header ?? "")?.[1] ?? "";

/** A busy brain may take long; an answer that is given up was made for nothing, and the next question comes on top. */
const DEADLINE_MS = 30000;

let leaving = new AbortController();

/** Give up what was asked for the place that a person leaves: the next one need not wait for its answers. */
export function leave() {
  leaving.abort(new LeftError("another place is shown"));
  leaving = new AbortController();
}

/** As many nodes as one answer may hold. */
const NODES_PATH = "/api/v1/nodes?limit=5000";
const MOST_PAGES = 20;

/** Every node that has reported, with its sums; what runs on all nodes together would be tens of megabytes. */
export const nodes = async () => {
  const items = [];
  let path = NODES_PATH;
  for (let pages = 0; path != null && pages < MOST_PAGES; pages += 1) {
    const page = await get(path);
    items.push(...page.items.filter((item) => item.sums != null));
    path = page.next ? `${NODES_PATH}&${new URLSearchParams({ continue: page.next })}` : null;
  }
  return { items };
};

export const topologyPath = (node) => `/api/v1/topology?${new URLSearchParams({ node })}`;

export const topology = (node) => get(topologyPath(node));

export const historyPath = (node, sinceS) =>
  `/api/v1/history?${new URLSearchParams({ node, since_s: sinceS })}`;

export const TARGETS_PATH = "/api/v1/profile-targets";

/** What can be profiled and has every word of *search*. */
export const targets = (search) =>
  get(`${TARGETS_PATH}?${new URLSearchParams({ limit: 12, search: search.slice(0, 200) })}`);

export const history = (node, sinceS) => get(historyPath(node, sinceS));

const HISTORY_ROWS = "/api/v1/history/workloads";

/** The containers that are called so and have a history. */
export const historyRows = ({ namespace, name, cluster }) =>
  get(ofCluster(`${HISTORY_ROWS}?${new URLSearchParams({ namespace, name, limit: 100 })}`, cluster));

export const rowHistoryPath = ({ namespace, kind, name, container, cluster }, backS) => {
  const parts = [namespace, kind, name].map(encodeURIComponent).join("/");
  return ofCluster(`/api/v1/workloads/${parts}/history?${new URLSearchParams({ container, from: -backS })}`, cluster);
};

export const adviceOf = (row) => get(`/api/v1/advice?${ofWorkload(row)}`);

export const workloadOf = ({ namespace, name, cluster }) =>
  get(ofCluster(`/api/v1/workloads?${new URLSearchParams({ namespace, fieldSelector: `name=${name}` })}`, cluster));

const NAMED = 100;

/** Changes of a workload and of its pods, not older than *backS*. */
export const changesOf = ({ namespace, kind, name }, backS) => {
  const since = Math.floor(Date.now() / 1000 - backS);
  return get(`/api/v1/mutations?${new URLSearchParams({ namespace, workload: `${kind}/${name}`, since, limit: NAMED })}`);
};

/** Versions that a workload got, not longer ago than *backS*. */
export const deploysOf = ({ namespace, kind, name }, backS) => {
  const since = Math.floor(Date.now() / 1000 - backS);
  return get(`/api/v1/deploys?${new URLSearchParams({ namespace, workload: `${kind}/${name}`, since, limit: NAMED })}`);
};

/** Vault tokens of its pods that run, and what they were given. */
export const leasesOf = (row) => get(`/api/v1/leases?${ofWorkload(row)}`);
export const grantsOf = (row) => get(`/api/v1/grants?${ofWorkload(row)}`);

const ofWorkload = ({ namespace, kind, name }) =>
  new URLSearchParams({ namespace, workload: `${kind}/${name}`, limit: NAMED });

export const seasonsOf = (namespace, name) => get(`/api/v1/seasons?${new URLSearchParams({ namespace, name })}`);

export const neighboursOf = (namespace) => get(`/api/v1/neighbours?${new URLSearchParams({ namespace })}`);

export const ageing = () => get("/api/v1/ageing");

export const profiles = () => get("/api/v1/profiles");

/** The stacks of a profile, a line for each; empty where they do not come. */
export async function folded(path) {
  try {
    const response = await fetch(path, { signal: endedBy(leaving.signal) });
    return response.ok ? await response.text() : "";
  } catch (error) {
    if (error instanceof LeftError) throw error;
    return "";
  }
}

export const get = (path) => ask(path, { signal: endedBy(leaving.signal) });

/** For a dialog, which stays open wherever the page goes. */
export const getForDialog = (path) => ask(path, { signal: endedBy() });

/** Ask for a change, with *question* as JSON if there is one. */
export const post = (path, question) =>
  ask(path, {
    method: "POST",
    signal: endedBy(),
    body: question === undefined ? undefined : JSON.stringify(question),
  });

const endedBy = (...signals) => AbortSignal.any([AbortSignal.timeout(DEADLINE_MS), ...signals]);

async function ask(path, more) {
  let response;
  let answer;
  try {
    response = await fetch(path, {
      ...more,
      cache: "no-store",
      headers: { accept: "application/json" },
    });
    answer = await response.json();
  } catch (error) {
    if (error instanceof LeftError) throw error;
    if (response == null || !(error instanceof SyntaxError)) {
      throw new LostError(error.name === "TimeoutError" ? "no answer in time" : "no connection");
    }
    if (response.ok) throw new LostError("its answer is not JSON");
  }
  warning = warningIn(response.headers.get("warning"));
  if (response.ok) return answer;
  const remedy = String(answer?.remedy ?? "");
  if (response.status === 401) throw new SignedOutError(remedy);
  // Reads are tried again, so that only a refusal that lasts is shown to a person.
  if (answer?.error && (more.method || response.status < 500)) {
    throw new RefusedError(String(answer.error), remedy);
  }
  throw new LostError(`it answers ${response.status}`);
}
