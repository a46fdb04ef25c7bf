// The lists beside the topology: what each asks for, and what its rows say. Pure: documents in,
// rows out; a row is a key, cells in the order of the columns, and, where `acts` says so, what a
// person can do with it.

import { advice } from "./advice.js";
import { ago, cell, lines, place } from "./cells.js";
import { diff } from "./edits.js";
import { UNKNOWN, bytes, cores, counted, runtime, span, visible } from "./format.js";
import { drawing } from "./history.js";
import { capacity, clusters, elsewhere, flows, historyHref, workloads } from "./inventory.js";
import { parse, sorted } from "./listfilter.js";
import { policies } from "./policies.js";
import { oversell, scalers } from "./scaling.js";
import { seasons } from "./seasons.js";

/** What was done, with what, and which version of it; what Vault lends has none. */
const done = ({ operation, secret, version }) =>
  [operation, secret].filter(Boolean).join(" ") + (version == null ? "" : `, version ${version}`);

/** What a profile is at, and for how long, as far as its agent says. */
const progress = ({ state: word, phase, left_s: left }) => {
  if (word !== "running" || !phase) return word;
  return left == null ? phase : `${phase}, ${Math.ceil(left)} s left`;
};

/** How a state is coloured: good, to be noticed, or bad; any other state has no colour. */
const GRADES = {
  done: "calm",
  active: "calm",
  firm: "calm",
  observed: "calm",
  reversed: "calm",
  running: "notice",
  asked: "notice",
  provisional: "notice",
  partly: "notice",
  evicted: "notice",
  expired: "notice",
  refused: "suffer",
  lost: "suffer",
  conflict: "suffer",
};

const state = (word, why, text = word.replace("_", " ")) =>
  cell(text, { grade: GRADES[word] ?? "none", title: why && visible(why) });

function measured({ measure, seconds, hz }) {
  if (measure === "heap") return "heap";
  const length = `${Number(seconds.toFixed(1))} s`;
  return measure === "off-cpu" ? `${length} off the CPU` : `${length} at ${hz} Hz`;
}

const profiles = {
  title: "Profiles",
  about:
    "Flame graphs of where programs spend their CPU time, what they wait for in the kernel, and what memory Go programs hold. A pod can also ask for a profile of itself, by the annotation nemutator.io/profile.",
  empty: "No profile has been asked for yet.",
  path: "/api/v1/profiles",
  columns: ["Of", "State", "Asked", "What", "Samples", "Lost", "Names and notes"],
  acts: true,
  row: (profile, now) => {
    const lost = Object.entries(profile.lost ?? {});
    const weighed = (count) => (profile.measure === "off-cpu" ? `${(count / 1e9).toFixed(2)} s` : String(count));
    const losses = lost.map(([reason, count]) => `${reason} ${weighed(count)}`).join(", ");
    const account =
      profile.cpu_seconds == null || (profile.measure ?? "cpu") !== "cpu"
        ? ""
        : `the kernel's own account: ${profile.cpu_seconds.toFixed(2)} s of CPU; ` +
          `samples say ${(profile.recorded / profile.hz).toFixed(2)} s`;
    return {
      key: profile.id,
      cells: [
        cell(profile.title),
        state(profile.state, profile.reason, progress(profile)),
        ago(profile.asked_at, now),
        cell(measured(profile)),
        cell(profile.state === "done" || profile.recorded > 0 ? weighed(profile.recorded) : "", { title: account }),
        cell(profile.state === "done" ? losses || "0" : ""),
        lines(
          profile.reason,
          profile.remedy && `Remedy: ${profile.remedy}`,
          profile.grade?.summary,
          profile.grade?.breaks && `Stacks short of their root: ${profile.grade.breaks}`,
          ...profile.notes,
        ),
      ],
      links:
        profile.state === "done"
          ? ["flamegraph", "folded", "pprof"].map((what) => ({
              text: what === "flamegraph" ? "flame graph" : what,
              href: `/api/v1/profiles/${encodeURIComponent(profile.id)}/${what}`,
            }))
          : [],
      compare:
        profile.state === "done"
          ? { id: profile.id, measure: profile.measure ?? "cpu", at: profile.asked_at }
          : null,
    };
  },
};

/** A list, narrowed by *words*: the profiles by the target that is looked for. */
export const filteredHref = (list, words) => `#${list}/${encodeURIComponent(words)}`;

/** The first of *paths*, and how many more there are. */
const few = (paths) =>
  paths.length <= 3
    ? paths.join(", ")
    : `${paths.slice(0, 3).join(", ")} and ${counted(paths.length - 3, "more edit")}`;

const mutations = {
  title: "Mutations",
  about:
    "What was changed as objects were created, and by which policy. Taking a change back leaves alone what others have changed since.",
  empty: "Nothing has been changed yet.",
  path: "/api/v1/mutations",
  columns: ["Object", "State", "When", "Policies", "Changes"],
  acts: true,
  row: (mutation, now) => {
    const { kind, namespace, name, generate_name: generated, owner_kind: ownerKind, owner_name: owner } = mutation.subject;
    const workload = owner ? historyHref(namespace, ownerKind, owner) : null;
    const policies = [...new Set(mutation.edits.map((edit) => edit.policy))].join(", ");
    const edits = mutation.edits.map((edit) => edit.path);
    const object = `${kind} ${place(namespace, name || `${generated}…`)}`;
    const applied = mutation.mode === "apply";
    return {
      key: mutation.id,
      cells: [
        cell(object, { title: mutation.id }),
        applied ? state(mutation.state) : cell(mutation.mode),
        ago(mutation.at, now),
        cell(policies),
        cell(few(edits), { title: edits.map(visible).join("\n"), wide: true }),
      ],
      links: workload ? [{ text: "workload", href: workload }] : [],
      offers: [{ text: "Diff", shows: { title: `What was changed of ${visible(object)}`, lines: diff(mutation.edits) } }],
      rollback: applied && mutation.state !== "reversed" ? { id: mutation.id, object } : null,
    };
  },
};

const missed = {
  title: "Missed pods",
  about:
    "Pods of a cluster that run without what admission would have done to them, because it was down, late or confused when they were created. Where a policy says so, they are evicted, so that their workload makes others.",
  empty: "Admission has missed no pod that runs.",
  path: "/api/v1/missed-pods",
  columns: ["Pod", "What was done", "Runs since", "Policies", "Why"],
  acts: true,
  row: (one, now) => ({
    key: one.uid,
    cells: [
      cell(place(one.namespace, one.name), { title: [one.ownerKind, one.ownerName].filter(Boolean).join(" ") }),
      state(one.result, one.result === "evicted" ? "it is in the queue of evictions" : "by an Event of the pod"),
      ago(one.since, now),
      cell(one.policies.join(", ")),
      cell(one.why, { wide: true }),
    ],
    links: one.ownerName ? [{ text: "workload", href: historyHref(one.namespace, one.ownerKind, one.ownerName) }] : [],
  }),
};

const MEMORY = ["heap", "memory"];

/** How what a verdict is about went, drawn and in words. */
function graph(one) {
  const plain = (value) => (one.measure === "cpu" ? `${value.toFixed(1)} %` : String(Math.round(value)));
  const say = (value) => (MEMORY.includes(one.measure) ? bytes(value) : plain(value));
  const points = one.points.map(([at, value]) => ({ at, value }));
  const words =
    one.readings === 0 || !(one.span_s > 0)
      ? ""
      : `${one.measure} from ${say(one.first_level)} to ${say(one.last_level)} in ${span(one.span_s)}`;
  return cell(words, { drawn: drawing(points, "value", 160, 40) });
}

const VERDICTS = { leak: "suffer", drift: "notice", "hot spot grew": "notice", steady: "calm" };

/** The innermost function that people can change, with its file and line. */
const where = ({ sites: [site], functions: [hot] }) => {
  const found = site ?? hot;
  return found ? `${found.function} ${found.file.split("/").at(-1)}:${found.line}` : "";
};

const ageing = {
  title: "Ageing",
  about:
    "Go processes, read without being asked for: what grows with age, how fast, and in which line. In the first days a verdict is provisional, because it rests on what was seen since the start. The flame graph compares the first reading with the last.",
  empty: "No process was read yet: each is once it is old enough.",
  path: "/api/v1/ageing",
  /** Nodes of which no verdict comes now. */
  note: ({ paused = [] }) =>
    paused.map(({ node, why, remedy }) => visible(`Unasked looks wait on ${node}: ${why} → ${remedy}.`)).join(" "),
  columns: ["Workload", "Verdict", "Rate", "Where", "Graph", "Why"],
  acts: true,
  row: (one, now) => {
    const { namespace, owner_kind: ownerKind, owner, container, program } = one.workload;
    const provisional = one.rate !== "" && one.state === "provisional";
    const stack = one.stack.map(([name, file, line]) => ({ sign: "note", text: visible(`${name} ${file.split("/").at(-1)}:${line}`) }));
    return {
      key: one.id,
      cells: [
        cell(container === "-" ? `${program} in ${owner}` : `${program} of ${place(namespace, owner)}`),
        cell(provisional ? `${one.verdict} (provisional)` : one.verdict, {
          grade: VERDICTS[one.verdict] ?? "none",
          title: visible(one.sentence),
        }),
        cell(one.rate),
        cell(where(one)),
        graph(one),
        lines(
          one.reason,
          one.load == null ? "" : `compared with its load, by ${one.load}`,
          one.first_seen == null ? "" : `first seen ${span(now - one.first_seen)} ago`,
          one.replicas_say,
        ),
      ],
      links: [
        ...(one.sites.length > 0 ? ["flamegraph", "folded"] : []).map((what) => ({
          text: what === "flamegraph" ? "what grew" : what,
          href: `/api/v1/ageing/${encodeURIComponent(one.id)}/${what}`,
        })),
        { text: "profile", href: filteredHref("profiles", program) },
        { text: "workload", href: historyHref(namespace, ownerKind, owner) },
      ],
      offers: stack.length > 0 ? [{ text: "Stack", shows: { title: `What allocates in ${visible(program)}`, lines: stack } }] : [],
    };
  },
};

const HARM = ["calm", "notice", "notice", "suffer", "suffer"];

/** Grades of one role: now, usually, at worst; coloured by what is now, else by the usual one. */
const harm = ({ now, usual, worst, top }) =>
  cell([now, usual, worst].map((grade) => grade ?? UNKNOWN).join(" · ") + (top ? " ★" : ""), {
    grade: HARM[now ?? usual ?? -1] ?? "none",
    title: "now · usually · at worst, from 0 to 4" + (top ? "; among the worst of the cluster, and labelled" : ""),
  });

const neighbours = {
  title: "Neighbours",
  about:
    "Which pods suffer when which others on their node are busy: by what they wait for, minute by minute, and tested against chance. Grades from 0 to 4 stand for now (5 minutes), usually and at worst (7 days).",
  empty: "Nobody is known to suffer from others on its node.",
  path: "/api/v1/neighbours",
  note: ({ why = "", untold = [] }) =>
    [visible(why), ...untold.map((one) => visible(`Of ${counted(one.containers, "container")} nobody can tell: ${one.why}.`))]
      .filter(Boolean)
      .join(" "),
  columns: ["Pod", "Node", "Victim", "Aggressor", "Suffers", "Makes others suffer"],
  acts: true,
  row: (one) => ({
    key: `${one.namespace}\n${one.name}\n${one.uid}`,
    cells: [
      cell(place(one.namespace, one.name), { title: [one.ownerKind, one.owner].filter(Boolean).join(" ") }),
      cell(one.node),
      harm(one.victim),
      harm(one.aggressor),
      cell(one.victim.why, { wide: true }),
      cell(one.aggressor.why, { wide: true }),
    ],
    links: one.owner ? [{ text: "workload", href: historyHref(one.namespace, one.ownerKind, one.owner) }] : [],
  }),
};

/** One click to the workload of the pod that has it, while that runs. */
const toWorkload = ({ namespace, owner_kind: kind, owner }) =>
  owner ? [{ text: "workload", href: historyHref(namespace, kind, owner) }] : [];

const leases = {
  title: "Leases",
  about: "Vault tokens that pods have through their node's agent. No value of a secret is shown here.",
  empty: "No pod has logged in to Vault through an agent.",
  path: "/api/v1/leases",
  columns: ["Pod", "Role", "State", "Since", "Expires", "Node"],
  acts: true,
  row: (lease, now) => ({
    key: [lease.node, lease.pod_uid, lease.role, lease.caller].join("\n"),
    cells: [
      cell(lease.pod ? place(lease.namespace, lease.pod) : lease.caller, { title: lease.pod_uid }),
      cell(lease.role),
      state(lease.state),
      ago(lease.since, now),
      cell(lease.state === "active" && lease.expires_at ? `in ${span(lease.expires_at - now)}` : ""),
      cell(lease.node),
    ],
    links: toWorkload(lease),
  }),
};

const grants = {
  title: "Audit",
  about:
    "Every secret that was given or refused, and every new value that a pod was brought (rotate), newest first: who, what by name, and why. Never a value.",
  empty: "No secret has been asked for yet.",
  path: "/api/v1/grants",
  columns: ["When", "Who", "What", "Result", "Why", "Node"],
  acts: true,
  row: (grant, now) => ({
    key: [grant.at, grant.node, grant.pod_uid, grant.operation, grant.secret, grant.caller].join("\n"),
    cells: [
      ago(grant.at, now),
      cell(grant.pod ? place(grant.namespace, grant.pod) : grant.caller, { title: grant.pod_uid }),
      cell(done(grant)),
      cell(grant.cached ? `${grant.result}, cached` : grant.result, {
        grade: grant.result === "granted" ? "calm" : "suffer",
      }),
      cell(grant.reason, { wide: true }),
      cell(grant.node),
    ],
    links: toWorkload(grant),
  }),
};

export const LISTS = { capacity, workloads, flows, clusters, profiles, mutations, policies, "missed-pods": missed, advice, seasons, scalers, oversell, ageing, neighbours, leases, grants };

/** The list called *name*, of *cluster*; null for the cluster whose brain this is. */
export const listOf = (name, cluster) => (cluster == null ? LISTS[name] : elsewhere(LISTS[name], cluster));

/** The rows of *document*, each with a key of its own: equal keys would be drawn as one row. */
export function rows(list, document, now) {
  const seen = new Map();
  return (list.items?.(document) ?? document.items).map((item) => {
    const row = { ...list.row(item, now), item };
    const times = seen.get(row.key) ?? 0;
    seen.set(row.key, times + 1);
    return times === 0 ? row : { ...row, key: `${row.key}\n${times}` };
  });
}

/** With more rows, the page could not be redrawn in a few milliseconds. */
export const MOST_ROWS = 200;

/** Those of *found* that *typed* asks for, in the order that a person chose; *order* is null for the list's own. */
export function narrowed(found, typed, columns, order) {
  const holds = parse(typed, columns);
  const matching = holds ? found.filter(holds) : found;
  return order == null ? matching : sorted(matching, order);
}

/** Whether *profiles* are worth asking about every second: one of them is being made. */
export const areMoving = (profiles) =>
  profiles.some(({ state: word }) => word === "asked" || word === "running");

/** What a person typed as the target of a profile, as the API wants it; null when it names none. */
export function target(text) {
  const typed = text.trim();
  const [, kind, value] = /^(pid|cgroup|unit):(.+)$/.exec(typed) ?? [];
  if (kind) return { kind, value };
  if (/^[^\s:/]+\/[^\s:/]+$/.test(typed)) return { kind: "pod", value: typed };
  return /^[^\s:/]+$/.test(typed) ? { kind: "name", value: typed } : null;
}

/** The cells of one target that a person may choose: what it is, where, how old and how busy. */
export const targetCells = (one) => [
  one.name,
  one.within || (one.kind === "pid" ? "" : counted(one.processes, "process", "processes")),
  one.runtime ? runtime(one.runtime, one.runtime_version) : "",
  span(one.age_s),
  cores(one.cpu_cores),
  one.target,
  one.node,
].map(visible);

/** What is left out of the targets that are shown, in words. */
export function leftOut({ items, left, nodes_left: nodesLeft }) {
  const words = [];
  if (items.length === 0) words.push("nothing like that runs here; another target can be typed");
  if (left > 0) words.push(`${left} more: type a part of a name`);
  if (nodesLeft > 0) words.push(`${nodesLeft} less busy nodes were not looked at`);
  return words.join("; ");
}
