// The brain, as this page may ask it: answers, or one of three reasons why there is none.

/** Nothing, or nothing sensible, came back in time: it is asked again. */
export class LostError extends Error {}

/** The brain answers, but not to this session: its message is what a person must do. */
export class SignedOutError extends Error {}

/** The brain says no, and what a person can do about it. */
export class RefusedError extends Error {
  constructor(what, remedy) {
    super(what);
    this.remedy = remedy;
  }
}

/** What the brain says is wrong with itself, as of its last answer; empty when nothing is. */
export let warning = "";

const said = (header) => /^299 \S+ "(.*)"$/.exec(header ?? "")?.[1] ?? "";

const DEADLINE_MS = 5000;
const CHANGE_DEADLINE_MS = 20000;

export const NODES_PATH = "/api/v1/nodes";

/** Every node with its sums: what runs on all of them at once is tens of megabytes. */
export const nodes = () => get(NODES_PATH);

export const topologyPath = (node) => `/api/v1/topology?${new URLSearchParams({ node })}`;

export const topology = (node) => get(topologyPath(node));

export const historyPath = (node, sinceS) =>
  `/api/v1/history?${new URLSearchParams({ node, since_s: sinceS })}`;

export const history = (node, sinceS) => get(historyPath(node, sinceS));

export const get = (path) => ask(path, DEADLINE_MS, {});

/** Ask for a change, with *question* as JSON if there is one. */
export const post = (path, question) =>
  ask(path, CHANGE_DEADLINE_MS, {
    method: "POST",
    body: question === undefined ? undefined : JSON.stringify(question),
  });

async function ask(path, deadlineMs, more) {
  let response;
  let answer;
  try {
    response = await fetch(path, {
      ...more,
      cache: "no-store",
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(deadlineMs),
    });
    answer = await response.json();
  } catch (error) {
    if (response == null || !(error instanceof SyntaxError)) {
      throw new LostError(error.name === "TimeoutError" ? "no answer in time" : "no connection");
    }
    if (response.ok) throw new LostError("its answer is not JSON");
  }
  warning = said(response.headers.get("warning"));
  if (response.ok) return answer;
  const remedy = String(answer?.remedy ?? "");
  if (response.status === 401) throw new SignedOutError(remedy);
  // Looking is tried again, so that only what stays refused is worth a person's attention.
  if (answer?.error && (more.method || response.status < 500)) {
    throw new RefusedError(String(answer.error), remedy);
  }
  throw new LostError(`it answers ${response.status}`);
}
