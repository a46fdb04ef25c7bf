// Advice: what containers use beside what they request, what that would save, and how to have it. Pure.

import { cell, place, stacked } from "./cells.js";
import { UNKNOWN, bytes, cores, counted, span, visible } from "./format.js";
import { historyHref, more } from "./inventory.js";
import { amount } from "./plots.js";

const RESOURCES = {
  cpu: { used: ["cpu_p50", "cpu_p95", "cpu_p95"], say: cores, words: ["p50", "p95"] },
  memory: { used: ["memory_p95", "memory_p95", "memory_max"], say: bytes, words: ["p95", "max"] },
};

/** Of what one answer holds; those that waste most. */
const CONTAINERS = 300;

const GRADES = { firm: "calm", provisional: "notice" };

const NO_BARS = { most: "0.0", high: "0.0", median: "0.0", request: null, advised: null, limit: null };

const at = (value, top) => (100 * Math.min(1, Math.max(0, value / top))).toFixed(1);

/** Bars of what is used, with marks of what is requested, advised and the limit, in parts of the largest. */
export function bars(one, resource) {
  const { used } = RESOURCES[resource];
  const [median, high, most] = used.map((name) => one.use[name] ?? null);
  const [request, advised, limit] = [one.requests_now, one.requests, one.limits].map((given) => amount(given?.[resource]));
  const top = Math.max(...[median, high, most, request, advised].map((value) => value ?? 0));
  if (!(top > 0)) return null;
  const wide = (value) => (value == null ? "0.0" : at(value, top));
  // A limit far above all else would leave the bars a dot; it stands in the words.
  const mark = (value) => (value == null || value > top ? null : at(value, top * 1.01));
  return { most: wide(most), high: wide(high), median: wide(median), request: mark(request), advised: mark(advised), limit: mark(limit) };
}

function use(one, resource) {
  const { used, say, words } = RESOURCES[resource];
  const [first, , last] = used.map((name) => one.use[name] ?? null);
  return `${words[0]} ${say(first)}, ${words[1]} ${say(last)}`;
}

/** What one resource requests now, what it should, and what is used, drawn and in words. */
function resourceCell(one, resource) {
  const asked = `${one.requests_now?.[resource] ?? UNKNOWN} → ${one.requests?.[resource] ?? UNKNOWN}`;
  const ceiling = one.limits?.[resource];
  const limit = ceiling && ceiling !== one.requests?.[resource] ? `limit ${ceiling}` : "";
  const hour = resource === "cpu" && one.hourly?.cpu ? `this hour ${one.hourly.cpu}` : "";
  const drawn = bars(one, resource);
  const told = one.state === "not_yet" ? UNKNOWN : asked;
  const title = one.state === "not_yet" ? visible(one.reason) : null;
  return { ...stacked(told, drawn ? (resource === "memory" ? `max ${bytes(one.use.memory_max)}` : use(one, resource)) : "", [limit, hour].filter(Boolean).join(", ")), title, usage: drawn ?? NO_BARS };
}

const PODS = (one) => Math.max(1, one.pods ?? 1);

/** What following it would give back of all its pods; negative where it asks for more, null where one is not known. */
export function saving(one, resource) {
  const [now, then] = [one.requests_now, one.requests].map((given) => amount(given?.[resource]));
  return now == null || then == null || one.state === "not_yet" ? null : (now - then) * PODS(one);
}

const signed = (value, say) => (value < 0 ? `${say(-value)} more` : say(value));

/** What all of them request, use at their worst, and would give back. */
export function savings(totals) {
  if (!(totals?.containers > 0)) return "";
  const plain = (value) => `${value.toFixed(value < 10 ? 2 : 0)} cores`;
  return (
    `${counted(totals.containers, "container")} with a request and advice: you request ${plain(totals.requested_cpu_cores)} and use ${plain(totals.used_cpu_cores)} (p95); ` +
    `you request ${bytes(totals.requested_memory_bytes)} of memory and use ${bytes(totals.used_memory_bytes)} at most. ` +
    `Following the advice frees ${signed(totals.freed_cpu_cores, plain)} and ${signed(totals.freed_memory_bytes, bytes)}.`
  );
}

const API_VERSIONS = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  DaemonSet: "apps/v1",
  ReplicaSet: "apps/v1",
  CronJob: "batch/v1",
  Rollout: "argoproj.io/v1alpha1",
};

/** As JSON has it, which is YAML, too: no name of a stranger can be anything but text. */
const quoted = (text) => JSON.stringify(text);

/** A part of a manifest for `kubectl apply --server-side`; for what is no workload of Kubernetes its resources alone. */
export function yaml(one) {
  const given = ["requests", "limits"].flatMap((side) => {
    const known = ["cpu", "memory"].filter((name) => one[side]?.[name] != null);
    return known.length === 0 ? [] : [`${side}:`, ...known.map((name) => `  ${name}: ${quoted(one[side][name])}`)];
  });
  const version = Object.hasOwn(API_VERSIONS, one.owner_kind) ? API_VERSIONS[one.owner_kind] : null;
  if (version == null) return ["resources:", ...given.map((text) => `  ${text}`), ""].join("\n");
  const job = one.owner_kind === "CronJob";
  const nest = job ? ["jobTemplate:", "  spec:"] : [];
  const inner = job ? "    " : "";
  return [
    `apiVersion: ${version}`,
    `kind: ${one.owner_kind}`,
    "metadata:",
    `  name: ${quoted(one.owner)}`,
    `  namespace: ${quoted(one.namespace)}`,
    "spec:",
    ...nest.map((text) => `  ${text}`),
    ...["template:", "  spec:", "    containers:", `      - name: ${quoted(one.container)}`, "        resources:"].map((text) => `  ${inner}${text}`),
    ...given.map((text) => `  ${inner}          ${text}`),
    "",
  ].join("\n");
}

const between = ({ lower, upper }, resource) =>
  lower?.[resource] && upper?.[resource] ? `between ${lower[resource]} and ${upper[resource]} as far as is known` : "";

/** What a policy that follows CPU hourly gives its pods in this hour, or why advice holds. */
function hourly({ hourly: hour }) {
  if (!hour) return [];
  return hour.cpu == null
    ? [{ sign: "note", text: visible(`advice holds, and not ${hour.strategy}: ${hour.reason}`) }]
    : [{ sign: "+", text: visible(`requests ${hour.cpu} in this hour, by ${hour.strategy}, ${hour.reason}`) }];
}

/** How it comes about, in lines. */
function why(one) {
  const resource = (name, called) => [
    { sign: "path", text: called },
    { sign: "note", text: visible(use(one, name)) },
    ...(one.requests_now?.[name] ? [{ sign: "-", text: visible(`requests ${one.requests_now[name]}`) }] : []),
    ...(one.requests?.[name] ? [{ sign: "+", text: visible(`should request ${one.requests[name]}`) }] : []),
    ...(one.limits?.[name] ? [{ sign: "+", text: visible(`with the limit ${one.limits[name]}`) }] : []),
    ...(between(one, name) ? [{ sign: "note", text: visible(between(one, name)) }] : []),
  ];
  const bad = [
    one.use.throttled > 0 ? `stopped at its CPU limit in ${(100 * one.use.throttled).toFixed(1)} % of the time` : "",
    one.use.kills > 0 ? `ended for memory ${counted(one.use.kills, "time")}` : "",
    ...(one.remarks ?? []),
  ].filter(Boolean);
  const head = [
    `${one.state.replace("_", " ")}${one.strategy ? `, by the strategy ${one.strategy}` : ""}`,
    `seen ${counted(one.points, "time")} over ${span(one.span_s)}`,
    one.reason,
  ].filter(Boolean);
  return [
    ...head.map((text) => ({ sign: "note", text: visible(text) })),
    ...resource("cpu", "CPU"),
    ...hourly(one),
    ...resource("memory", "Memory"),
    ...bad.map((text) => ({ sign: "path", text: visible(text) })),
  ];
}

function row(one) {
  const name = place(one.namespace, one.owner);
  const called = one.container === "-" ? name : `${name}, ${one.container}`;
  const saved = ["cpu", "memory"].map((resource) => saving(one, resource));
  const says = saved.map((value, index) => (value == null ? "" : signed(value, [(cpu) => `${cores(cpu)} cores`, bytes][index])));
  const written = yaml(one);
  return {
    key: [one.namespace, one.owner_kind, one.owner, one.container].join("\n"),
    cells: [
      cell(name, { title: visible(one.owner_kind) }),
      cell(one.container),
      cell(one.state.replace("_", " "), { grade: GRADES[one.state] ?? "none", title: visible(one.reason || `${counted(one.points, "point")} over ${span(one.span_s)}`) }),
      resourceCell(one, "cpu"),
      resourceCell(one, "memory"),
      { ...stacked(...says), title: "of all its pods" },
    ],
    links: [{ text: "history", href: historyHref(one.namespace, one.owner_kind, one.owner, one.container) }],
    offers: [
      { text: "Why", shows: { title: `Why ${called} should request this`, lines: why(one) } },
      ...(one.state === "not_yet" || !(one.requests?.cpu || one.requests?.memory)
        ? []
        : [{ text: "YAML", shows: { title: `Resources of ${called}`, lines: written.trimEnd().split("\n").map((text) => ({ sign: "text", text: visible(text) })), copy: written } }]),
    ],
  };
}

export const advice = {
  title: "Advice",
  about:
    "What containers use, and what they should request because of it: the 95th percentile of CPU, without a limit; and the most memory that was used plus 15 %, as request and as limit.",
  empty: "Nothing has been seen for long enough yet: the first summaries take a quarter of a minute.",
  path: `/api/v1/advice?orderBy=waste&limit=${CONTAINERS}`,
  note: (document) => [more("container", "a part of a name in the filter")(document), savings(document.totals)].filter(Boolean).join(" "),
  searched: "workload",
  columns: ["Workload", "Container", "State", "CPU cores", "Memory", "Saves"],
  acts: true,
  /** What nothing can be said of yet comes last. */
  items: ({ items }) => [...items].sort((one, other) => (one.state === "not_yet") - (other.state === "not_yet")),
  row,
};
