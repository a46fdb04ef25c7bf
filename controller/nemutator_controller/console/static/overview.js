// The overview: what is wrong, what is wasted, what has changed, and how nemutator itself is. Pure: the
// brain's answers in, lines out. An answer that a person may not read is null, and is named at the end.

import { place } from "./cells.js";
import { bytes, cores, counted, percent, span, visible, worst } from "./format.js";
import { cost, wastedByAll } from "./prices.js";
import { historyHref } from "./inventory.js";

/** What is asked, and the view that shows all of it. */
export const PARTS = {
  nodes: { path: "/api/v1/nodes?orderBy=trouble&limit=200", called: "nodes", href: "#capacity" },
  wasted: { path: "/api/v1/workloads?orderBy=waste&limit=10", called: "workloads", href: "#workloads" },
  restarted: { path: "/api/v1/workloads?fieldSelector=oom%3E0&orderBy=restarts&limit=20", called: "workloads", href: "#workloads" },
  ageing: { path: "/api/v1/ageing", called: "ageing", href: "#ageing" },
  leases: { path: "/api/v1/leases?expired=true", called: "leases", href: "#leases" },
  grants: { path: "/api/v1/grants?refused=true", called: "the audit", href: "#grants" },
  deploys: { path: "/api/v1/deploys?limit=50", called: "deploys", href: "#workloads" },
  mutations: { path: "/api/v1/mutations?limit=50", called: "mutations", href: "#mutations" },
  missed: { path: "/api/v1/missed-pods", called: "missed pods", href: "#missed-pods" },
  sizing: { path: "/api/v1/sizing", called: "SizingPolicies", href: "#mutations" },
  evictions: { path: "/api/v1/evictions", called: "evictions", href: "#mutations" },
  rolls: { path: "/api/v1/rolls", called: "rolls", href: "#mutations" },
  profiles: { path: "/api/v1/profiles", called: "profiles", href: "#profiles" },
};

/** Lines of each part: more would be no overview. */
export const MOST = 10;
/** Percent of the last ten seconds in which some work on a node had to wait, from which that is told. */
const WAITING = 25;
/** A refusal that is older is for the audit. */
const LATELY_S = 3600;

const of = (answers, part) => answers[part]?.items ?? [];

const line = (grade, text, href, more = {}) => ({ grade, text: visible(text), href, at: null, ...more });

const called = (one) => place(one.namespace, one.name);

const rowOf = (one) => historyHref(one.namespace || "/", one.kind, one.name);

function ageing({ workload, verdict, state, rate, measure, first_seen: at }) {
  if (verdict !== "leak" && verdict !== "drift") return null;
  // Of a program alone on a machine its group is no name that anybody knows.
  const name = workload.container === "-" && workload.program ? workload.program : place(workload.namespace, workload.owner || workload.program || "");
  const how = [rate, state === "firm" ? "" : state].filter(Boolean).join(", ");
  const word = verdict === "leak" ? "leaks" : "drifts";
  return line(state === "firm" ? "suffer" : "notice", `${name} ${word}: ${measure}${how ? `, ${how}` : ""}`, "#ageing", { at });
}

function ended(one) {
  if (!(one.oom_ended > 0)) return null;
  return line("suffer", `${called(one)}: ${counted(one.oom_ended, "container")} ended for memory`, rowOf(one));
}

function node({ name, ready, stale, seen_at: seen, age_s: age, sums }) {
  const href = `#topology/${encodeURIComponent(name)}`;
  if (ready === false) return line("suffer", `Node ${name} is not ready`, href);
  // One without an agent is told of with nemutator itself.
  if (stale && seen == null) return null;
  if (stale) return line("suffer", `Node ${name} has not reported for ${span(age)}`, href);
  const [waits, resource] = worst(sums?.waiting ?? {});
  if (!(waits >= WAITING)) return null;
  return line("notice", `Node ${name}: work waits for ${resource === "cpu" ? "CPU" : resource}, ${percent(waits)} of the time`, href);
}

/** Of a pod that has ended, it does no harm. */
function lease(one) {
  if (one.state !== "expired" || (one.pod && !one.owner)) return null;
  const who = one.pod ? place(one.namespace, one.pod) : one.caller;
  return line("suffer", `${who}: its login to Vault as ${one.role} has expired`, "#leases", { at: one.expires_at });
}

/** One line for each secret of a pod, however often it was refused. */
function refused(grants, now) {
  const found = new Map();
  for (const one of grants) {
    if (one.result === "granted" || now - one.at > LATELY_S) continue;
    const who = one.pod ? place(one.namespace, one.pod) : one.caller;
    const key = `${who}\n${one.secret}\n${one.result}`;
    const before = found.get(key);
    found.set(key, { who, one: before?.one ?? one, times: (before?.times ?? 0) + 1 });
  }
  return [...found.values()].map(({ who, one, times }) => {
    const often = times > 1 ? `, ${times} times` : "";
    return line("suffer", `${who} does not get ${one.secret || "a secret"}: ${one.reason || one.result}${often}`, "#grants", { at: one.at });
  });
}

const mutationHref = (id) => `#mutations/${encodeURIComponent(`id:${id}`)}`;

function reversal({ id, state, subject, at }) {
  if (state !== "conflict" && state !== "partly") return null;
  const what = place(subject.namespace, subject.name || `${subject.generate_name}…`);
  const how = state === "conflict" ? "could not be taken back" : "was taken back in part only";
  return line("notice", `A change of ${what} ${how}`, mutationHref(id), { at });
}

const policy = ({ policy: name, fault }) =>
  fault ? line("suffer", `The SizingPolicy ${name} is not followed: ${fault}`, "#mutations") : null;

function missed(pods) {
  if (pods.length === 0) return [];
  const text = `${counted(pods.length, "pod runs", "pods run")} without what a policy asks for`;
  return [line("notice", text, "#missed-pods", { at: Math.max(...pods.map((pod) => pod.since ?? 0)) || null })];
}

/** Whether more nodes are in trouble than were asked for. */
export const isCut = (answers) => answers.nodes?.remaining > 0 && of(answers, "nodes").at(-1).stale;

const BADNESS = { suffer: 0, notice: 1 };

/** The worst first, of those the newest. */
export function wrong(answers, now) {
  const found = [
    ...of(answers, "nodes").map(node),
    ...of(answers, "restarted").map(ended),
    ...of(answers, "ageing").map(ageing),
    ...refused(of(answers, "grants"), now),
    ...of(answers, "leases").map(lease),
    ...of(answers, "sizing").map(policy),
    ...of(answers, "mutations").map(reversal),
    ...missed(of(answers, "missed")),
  ].filter(Boolean);
  return found.sort((a, b) => BADNESS[a.grade] - BADNESS[b.grade] || (b.at ?? 0) - (a.at ?? 0));
}

const share = (part, whole) => (whole > 0 ? (100 * Math.min(1, Math.max(0, (part ?? 0) / whole))).toFixed(1) : "0.0");

/** What waste most, and of how much of what they request they use now. */
export function wasted(answers) {
  return of(answers, "wasted")
    .filter(({ waste }) => waste.cpu_cores > 0 || waste.memory_bytes > 0)
    .slice(0, MOST)
    .map((one) => {
      const { requests, use, waste } = one;
      const idle = [
        waste.cpu_cores > 0 ? `${cores(waste.cpu_cores)} cores` : "",
        waste.memory_bytes > 0 ? bytes(waste.memory_bytes) : "",
      ].filter(Boolean);
      return line("none", called(one), rowOf(one), {
        waste: [`${idle.join(" and ")} idle`, cost(waste, answers.wasted.prices)].filter(Boolean).join(": "),
        why: `requests ${cores(requests.cpu_cores)} cores and ${bytes(requests.memory_bytes)}; uses ${cores(use.now.cpu_cores)} and ${bytes(use.now.memory_bytes)} now`,
        used: share(use.now.cpu_cores, requests.cpu_cores),
      });
    });
}

/** What all nodes together can give, and what of it is asked for and used; off clusters, what manifests ask for too much. */
export function sums(answers) {
  const total = (which, field) => answers.nodes?.totals?.[which]?.[field] ?? 0;
  const [whole, requested, used] = ["allocatable", "requested", "used"].map((which) => total(which, "cpu_cores"));
  if (!(requested > 0)) return wastedByAll(answers.wasted ?? {});
  const memory = ["requested", "used"].map((which) => bytes(total(which, "memory_bytes")));
  const waste = answers.wasted?.totals?.waste;
  const money = waste == null ? "" : cost(waste, answers.wasted.prices);
  const idle = money ? ` What no workload would use at its worst costs ${money}.` : "";
  return `Pods request ${requested.toFixed(1)} of ${whole.toFixed(1)} cores and use ${used.toFixed(1)}; they request ${memory[0]} of memory and use ${memory[1]}.${idle}`;
}

function mutation({ id, at, subject, edits, mode, state }) {
  const what = place(subject.namespace, subject.name || `${subject.generate_name}…`);
  const policies = [...new Set(edits.map((edit) => edit.policy))].filter(Boolean).join(", ");
  const done = edits.length > 0 && edits.every((edit) => edit.verb === "sizing") ? "resized" : "changed";
  const verb = mode === "preview" ? `would be ${done}` : `was ${done}`;
  const by = policies ? ` by ${policies}` : "";
  const since = mode !== "preview" && state === "reversed" ? ", and taken back since" : "";
  return line("none", `${subject.kind} ${what} ${verb}${by}${since}: ${counted(edits.length, "field")}`, mutationHref(id), { at });
}

const deploy = (one) => line("none", `${one.kind} ${called(one)} has a new version`, rowOf(one), { at: one.at });

const eviction = ({ at, by, reason, counts }) => {
  const pods = Object.values(counts ?? {}).reduce((sum, number) => sum + number, 0);
  return line("none", `${by} had ${counted(pods, "pod")} evicted${reason ? `: ${reason}` : ""}`, "#mutations", { at });
};

const roll = ({ at, by, workload, state }) => line("none", `${by} rolled ${workload}: ${state}`, "#mutations", { at });

const profile = ({ asked_at: at, title, state }) => line("none", `Profile of ${title}: ${state}`, "#profiles", { at });

/** Changes, resizes, deploys, rolls, evictions and profiles on one line of time, the newest first. */
export function changed(answers) {
  const found = [
    ...of(answers, "mutations").map(mutation),
    ...of(answers, "deploys").map(deploy),
    ...of(answers, "evictions").map(eviction),
    ...of(answers, "rolls").map(roll),
    ...of(answers, "profiles").map(profile),
  ];
  return found.filter(({ at }) => at != null).sort((a, b) => b.at - a.at).slice(0, MOST);
}

/** How nemutator itself is: what the brain says of itself, and who reports to it. */
export function health(answers, warning) {
  const found = [];
  if (warning) found.push(line("suffer", `The controller: ${warning}`, null));
  // Only the nodes with the most trouble were asked for; the totals are of all.
  const { nodes = 0, stale = 0 } = answers.nodes?.totals ?? {};
  const silent = of(answers, "nodes").filter((one) => one.seen_at == null);
  const reporting = nodes - stale;
  if (nodes > 0) {
    const all = reporting === nodes;
    const many = `${reporting} of ${nodes} nodes report`;
    const words = nodes > 1 ? many : all ? "The only node reports" : "The only node does not report";
    found.push(line(all ? "calm" : "notice", words, "#capacity"));
  }
  if (answers.nodes?.items.length === 0) found.push(line("notice", "No agent has reported yet: the first report takes a few seconds after the start", "#topology"));
  if (silent.length > 0) {
    const words = `${counted(silent.length, "node has", "nodes have")} no agent that reports`;
    found.push(line("notice", isCut(answers) ? `At least ${words}` : words, "#capacity"));
  }
  if (!warning) found.push(line("calm", "The controller has no problem that it knows of", null));
  return found;
}

const parts = (answers, answer) =>
  [...new Set(Object.entries(PARTS).filter(([part]) => answers[part] === answer).map(([, { called: word }]) => word))].join(", ");

/** What a person may not read, and what has not come, in words; empty when that is nothing. */
export function unread(answers) {
  const [refused, late] = [parts(answers, null), parts(answers, undefined)];
  return [
    refused && `Not shown, because you may not see it or there is no cluster: ${refused}.`,
    late && `Not shown, because no answer has come: ${late}.`,
  ].filter(Boolean).join(" ");
}

/** Why there is no line of what is wrong. */
export function calm(answers) {
  if (answers.nodes?.items.length === 0) return "Nothing is known yet: no agent has reported.";
  if (unread(answers) !== "") return "Nothing in what is shown here. What is not shown is named below.";
  return "Nothing that nemutator sees: no leak, no container that ended for memory, no refused secret, no node under pressure.";
}
