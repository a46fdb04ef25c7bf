// The lists of what there is, what it asks for and what it uses. Pure: documents in, rows out.

import { ago, cell, place, stacked } from "./cells.js";
import { UNKNOWN, bytes, cores, counted, percent, span, visible, worst } from "./format.js";
import { wastedByAll } from "./prices.js";

/** What of a cluster one answer holds: a page that asks every few seconds cannot have all of it. */
export const NODES = 200;
const WORKLOADS = 300;
const FLOWS = 300;

const API = "/api/v1/";

/** *path* of the API for *cluster*, of those on one database; null for the one that is asked. */
export const ofCluster = (path, cluster) =>
  cluster == null ? path : path.replace(API, `${API}clusters/${encodeURIComponent(cluster)}/`);

/** The name of a list in the page's address. */
export const viewOf = (list, cluster) => (cluster == null ? list : `${list}@${encodeURIComponent(cluster)}`);

/** *list* as the brain of another *cluster* has published it; there it has no actions but those that `elsewhere` links to. */
export function elsewhere(list, cluster) {
  const { command, links } = list.elsewhere;
  return {
    ...list,
    title: `${list.title} of ${visible(cluster)}`,
    about: `As its brain has published it, once a minute. ${list.about}`,
    path: ofCluster(list.path, cluster),
    note: ({ remaining = 0, now, counted_at: at }) =>
      [
        at == null || now == null ? "" : `This is ${span(now - at)} old.`,
        remaining > 0 ? `${counted(remaining, "row")} more: ${command} --cluster=${visible(cluster)} finds them.` : "",
      ].join(" ").trim(),
    row: (item, now) => ({ ...list.row(item, now), links: links(item, cluster) }),
  };
}

export const more = (what, command) => ({ remaining = 0 }) =>
  remaining > 0 ? `${counted(remaining, what)} more: ${command} finds them.` : "";

/** Widths of a hundred: what can be used, and within it what is requested and what is used. */
function shares(whole, requested, used) {
  if (!whole) return null;
  const part = (value) => (100 * Math.min(1, Math.max(0, (value ?? 0) / whole))).toFixed(1);
  return { whole: "100.0", requested: part(requested), used: part(used) };
}

const wasted = (item, field, say) => (item.waste?.[field] > 0 ? ` (${say(item.waste[field])} wasted)` : "");

const oversold = (item, field, say) =>
  field === "cpu_cores" && item.raw_cpu_cores != null ? `, oversold: it has ${say(item.raw_cpu_cores)}` : "";

/** Three lines of one resource, drawn and in words. */
function lanes(item, field, say) {
  const [whole, requested, used] = ["allocatable", "requested", "used"].map((name) => item[name]?.[field] ?? null);
  const share = whole && used != null ? ` (${percent((100 * used) / whole)})` : "";
  return {
    ...stacked(
      `used ${say(used)}${share}`,
      `requested ${say(requested)}${wasted(item, field, say)}`,
      `of ${say(whole)}${oversold(item, field, say)}`,
    ),
    bars: shares(whole, requested, used) ?? shares(1, 0, 0),
  };
}

export const capacity = {
  title: "Capacity",
  about:
    "What pods can request of each node, what they request, and what is used of it: the gap between the last two is paid for and idle. Off clusters nobody requests anything.",
  empty: "No node is known yet: the first report takes a few seconds after the start of its agent.",
  path: `/api/v1/nodes?orderBy=requested&limit=${NODES}`,
  note: more("node", "a part of a name in the filter"),
  searched: "node",
  elsewhere: { command: "nemutator nodes", links: () => [] },
  columns: ["Node", "State", "CPU", "Memory", "Pods", "Pressure"],
  acts: true,
  row: (node, now) => {
    const { pods = {}, sums } = node;
    const ready = node.ready === false || node.stale ? "suffer" : node.unschedulable ? "notice" : "calm";
    const words = [
      node.ready === false ? "not ready" : node.stale ? "stale" : node.unschedulable ? "cordoned" : "ready",
      node.seen_at == null ? "no agent has reported" : "",
    ];
    const pending = pods.pending > 0 ? `, ${pods.pending} pending` : "";
    const most = node.most_pods == null ? "" : ` of ${node.most_pods}`;
    const [waits, resource] = worst(sums?.waiting ?? {});
    return {
      key: node.name,
      cells: [
        cell(node.name),
        cell(words.filter(Boolean).join(", "), { grade: ready, title: node.seen_at == null ? null : `seen ${ago(node.seen_at, now).text}` }),
        lanes(node, "cpu_cores", (value) => (value == null ? UNKNOWN : `${cores(value)} cores`)),
        lanes(node, "memory_bytes", bytes),
        cell(pods.count == null ? "" : `${pods.count}${most}${pending}`),
        cell(waits == null ? "" : `${percent(waits)} ${resource}`.trim()),
      ],
      links: [{ text: "what runs on it", href: `#topology/${encodeURIComponent(node.name)}` }],
    };
  },
};

/** Of a plain control group only what runs in it has a history. */
const past = ({ namespace, kind, name }, cluster = null) =>
  kind === "group" ? [] : [{ text: "history", href: historyHref(namespace, kind, name, ...(cluster == null ? [] : ["", "", cluster])) }];

/** Where the page shows what a workload used; after its name may follow a container, how far back, and another cluster. */
export const historyHref = (...parts) =>
  `#history/${parts.map((part) => encodeURIComponent(part)).join("/")}`;

function amounts({ cpu_cores: cpu, memory_bytes: memory }) {
  if (cpu == null && memory == null) return stacked("");
  // Nobody asked for anything: that is read faster than two zeros.
  return cpu === 0 && memory === 0 ? stacked("none") : stacked(`${cores(cpu)} cores`, bytes(memory));
}

function replicas({ wanted, ready, pods, pending, unscheduled }, processes) {
  if (processes != null) return cell(counted(processes, "process", "processes"));
  const short = pending > 0 || (wanted != null && ready < wanted);
  const without = unscheduled > 0 ? `, ${unscheduled} without a node` : "";
  const waits = pending > 0 ? `, ${pending} pending` : "";
  return cell(`${ready} of ${wanted ?? pods} ready${waits}${without}`, { grade: short ? "notice" : "none", stack: true });
}

/** What went wrong with it. */
function trouble({ oom_ended: oom, restarts, throttled }) {
  const words = [
    oom > 0 ? `${counted(oom, "container")} ended for memory` : "",
    restarts > 0 ? counted(restarts, "restart") : "",
    throttled > 0.005 ? `throttled in ${percent(100 * throttled)} of periods` : "",
  ].filter(Boolean);
  const grade = oom > 0 ? "suffer" : words.length > 0 ? "notice" : "none";
  return cell(words.join(", ") || "none", { grade: words.length > 0 ? grade : "none", wide: true });
}

export const workloads = {
  title: "Workloads",
  about:
    "What each workload requests and uses, all its pods together; waste is what it requests and would not use at the worst that was seen. Its history shows use over time.",
  empty: "No workload has been seen yet: agents report what runs within a quarter of a minute.",
  path: `/api/v1/workloads?orderBy=cpu&limit=${WORKLOADS}`,
  note: (document) => [more("workload", "a part of a name in the filter")(document), wastedByAll(document)].filter(Boolean).join(" "),
  elsewhere: { command: "nemutator workloads", links: (one, cluster) => past(one, cluster) },
  searched: "workload",
  columns: ["Workload", "Replicas", "Requests", "Limits", "Use now", "Usual", "Worst", "Waste", "Network", "Trouble"],
  acts: true,
  row: (one) => ({
    key: [one.namespace, one.kind, one.name].join("\n"),
    cells: [
      cell(place(one.namespace, one.name), { title: one.kind }),
      replicas(one.replicas, one.processes),
      amounts(one.requests),
      amounts(one.limits),
      amounts(one.use.now),
      amounts(one.use.usual),
      amounts(one.use.worst),
      amounts(one.waste),
      one.network.received == null && one.network.sent == null
        ? cell("")
        : stacked(`${bytes(one.network.received)}/s in`, `${bytes(one.network.sent)}/s out`),
      trouble(one),
    ],
    links: [
      ...past(one),
      { text: "profile", href: `#profiles/${encodeURIComponent(one.name)}` },
      { text: "advice", href: `#advice/${encodeURIComponent(`workload:${one.name}`)}` },
    ],
  }),
};

/** A pod by its workload, and anything else by its name. */
const end = ({ kind, namespace, name, owner_kind: ownerKind, owner, address }) =>
  cell(place(namespace, name), {
    title: [owner ? `${ownerKind} ${owner}` : kind, address].filter(Boolean).join(", "),
  });

export const flows = {
  title: "Flows",
  about:
    "Who talks to whom: connections of pods when agents last looked at them, one pod of each node a minute, and bytes per second of them.",
  empty:
    "No flow is known. Agents look at connections of pods where their setting observe.flows is on; a machine outside of a cluster has no pods.",
  path: `/api/v1/flows?limit=${FLOWS}`,
  note: more("flow", "/api/v1/flows"),
  columns: ["From", "To", "Port", "Sent", "Received", "Connections", "Seen"],
  acts: true,
  row: (flow, now) => {
    const out = flow.direction === "out";
    const [from, to] = out ? [flow.pod, flow.peer] : [flow.peer, flow.pod];
    const [there, back] = out ? [flow.sent, flow.received] : [flow.received, flow.sent];
    return {
      key: [flow.pod.namespace, flow.pod.name, flow.peer.address, flow.port, flow.direction].join("\n"),
      cells: [
        end(from),
        end(to),
        cell(`${flow.port}/${flow.protocol}`),
        cell(`${bytes(there)}/s`),
        cell(`${bytes(back)}/s`),
        cell(String(flow.connections)),
        { ...ago(flow.to_at, now), title: `by the agent of ${flow.node}` },
      ],
      links: [from, to]
        .map(({ namespace, owner_kind: kind, owner }, index) => ({ text: ["from", "to"][index], owner, href: owner ? historyHref(namespace, kind, owner) : null }))
        .filter(({ owner }) => owner),
    };
  },
};

const lines = ({ allocatable, requested, used }) => [amounts(allocatable), amounts(requested), amounts(used)];

/** Of tables that cannot be read nobody knows when they were written. */
const published = ({ published_at: at, stale }, now) => {
  const when = at ? `${span(now - at)} ago` : UNKNOWN;
  return stale ? cell(`${when}, stale`, { grade: "suffer" }) : cell(when);
};

export const clusters = {
  title: "Clusters",
  about: "The clusters that share this one's PostgreSQL: what their nodes can take, what is requested and used, and what is wasted.",
  empty: "No cluster has published anything. Several clusters on one PostgreSQL have brain.cluster_name set, each another.",
  path: "/api/v1/clusters",
  note: ({ totals }) =>
    totals.clusters === 0
      ? ""
      : `All together: ${totals.nodes.nodes} nodes, ${totals.nodes.pods} pods, ${totals.workloads.workloads} workloads.`,
  columns: ["Cluster", "Nodes", "Pods", "Workloads", "Allocatable", "Requested", "Used", "Waste", "Published"],
  acts: true,
  row: (one, now) => ({
    key: one.name,
    cells: [
      cell(one.here ? `${one.name} (here)` : one.name, { title: one.summary?.version }),
      ...(one.summary == null
        ? [cell("another version's"), ...Array.from({ length: 6 }, () => cell(""))]
        : [
            cell(String(one.summary.nodes.nodes)),
            cell(String(one.summary.nodes.pods)),
            cell(String(one.summary.workloads.workloads)),
            ...lines(one.summary.nodes),
            amounts(one.summary.workloads.waste),
          ]),
      published(one, now),
    ],
    links: [
      ["nodes", "capacity"],
      ["workloads", "workloads"],
    ].map(([text, list]) => ({ text, href: `#${viewOf(list, one.here ? null : one.name)}` })),
  }),
};
