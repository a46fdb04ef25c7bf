// The brain, as this page may ask it: answers, or one of two reasons why there is none.

/** Nothing, or nothing sensible, came back in time: it is asked again. */
export class LostError extends Error {}

/** The brain answers, but not to this session: a person must open a new link. */
export class SignedOutError extends Error {}

const DEADLINE_MS = 5000;

export const topology = () => ask("/api/v1/topology");

export const historyPath = (node, sinceS) =>
  `/api/v1/history?${new URLSearchParams({ node, since_s: sinceS })}`;

export const history = (node, sinceS) => ask(historyPath(node, sinceS));

async function ask(path) {
  let response;
  try {
    response = await fetch(path, {
      cache: "no-store",
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (response.ok) return await response.json();
  } catch (error) {
    const why = error.name === "TimeoutError" ? "no answer in time" : "no connection";
    throw new LostError(error instanceof SyntaxError ? "its answer is not JSON" : why);
  }
  if (response.status === 401 || response.status === 403) throw new SignedOutError();
  throw new LostError(`it answers ${response.status}`);
}
