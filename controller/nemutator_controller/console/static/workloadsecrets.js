// What a workload was given of secrets, and what it holds of Vault: by names alone, never a value. Pure.

import { counted, span, visible } from "./format.js";

/** Lines of each kind: more are in the lists. */
const MOST = 8;

/** *items* that say the same, once, with how often and when last. */
function together(items, sameOf) {
  const found = new Map();
  for (const one of items) {
    const key = sameOf(one);
    const known = found.get(key);
    if (known == null) found.set(key, { key, last: one, count: 1, pods: new Set([one.pod]) });
    else {
      known.count += 1;
      known.pods.add(one.pod);
      if (one.at > known.last.at) known.last = one;
    }
  }
  return [...found.values()];
}

const often = (count) => (count > 1 ? `, ${count} times` : "");

/** A line for each secret and what came of it: what was refused first, then the newest. */
function given(grants, now) {
  const read = (grants?.items ?? []).filter(({ secret, result }) => secret !== "" || result !== "granted");
  return together(read, (one) => [one.operation, one.secret, one.result, one.reason].join("\n"))
    .sort((a, b) => (a.last.result === "granted") - (b.last.result === "granted") || b.last.at - a.last.at)
    .slice(0, MOST)
    .map(({ key, last, count, pods }) => {
      const what = [last.operation, last.secret].filter(Boolean).join(" ");
      const version = last.version == null ? "" : `, version ${last.version}`;
      const why = last.reason ? `: ${last.reason}` : "";
      const who = pods.size > 1 ? counted(pods.size, "pod") : last.pod;
      return {
        key: `given ${key}`,
        text: visible(`${what}${version}: ${last.result}${why}, ${span(now - last.at)} ago by ${who}${often(count)}`),
        grade: last.result === "granted" ? "calm" : "suffer",
      };
    });
}

const ENDS = { active: "calm", revoked: "none", expired: "notice" };

/** A line for each role under which its pods hold tokens of Vault. */
function held(leases, now) {
  return together(leases?.items ?? [], (one) => [one.role, one.state].join("\n"))
    .sort((a, b) => (b.last.state === "active") - (a.last.state === "active"))
    .slice(0, MOST)
    .map(({ key, last, pods }) => {
      const left = last.state === "active" && last.expires_at != null ? `, the next expires in ${span(last.expires_at - now)}` : "";
      return {
        key: `held ${key}`,
        text: visible(`Vault token of the role ${last.role}: ${last.state} in ${counted(pods.size, "pod")}${left}`),
        grade: ENDS[last.state] ?? "none",
      };
    });
}

export const secretLines = (leases, grants, now) => [...held(leases, now), ...given(grants, now)];
