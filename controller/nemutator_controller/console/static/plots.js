// What a workload's history looks like: a document in, lines, bands, marks and words out. Pure.

import { UNKNOWN, bytes, cores, percent } from "./format.js";

/** How values are written, in a sentence and at an axis, and whether an axis of them has powers of two. */
const CORES = { say: (value) => `${cores(value)} cores`, brief: cores };
const BYTES = { say: bytes, brief: bytes, binary: true };
const PER_SECOND = { say: (value) => `${bytes(value)}/s`, brief: bytes, binary: true };
const SHARE = { say: (value) => percent(100 * value), brief: (value) => percent(100 * value) };

/** By the name of the figure: what it is called, and what its values are. */
const FIGURES = {
  cpu_cores: ["CPU", CORES],
  memory_bytes: ["Memory", BYTES],
  throttled: ["Throttled", SHARE],
  network_received: ["Network received", PER_SECOND],
  network_sent: ["Network sent", PER_SECOND],
  disk_read: ["Disk read", PER_SECOND],
  disk_written: ["Disk written", PER_SECOND],
};

/** What a plot can hold, from the lowest layer to the highest: the name of its style, and what it is called. */
const LAYERS = {
  usual: "usual for this hour of the week",
  range: "lowest to highest minute",
  request: "requested",
  advised: "advised",
  limit: "limit",
  most: "most of one pod",
  mean: "all pods",
};

/** How far back a person can look, in seconds, and how that is written in the page's address. */
export const SPANS = { "1h": 3600, "6h": 21600, "1d": 86400, "1w": 604800, "3w": 1814400, "4w": 2419200 };

/** The epoch was a Thursday; a usual week begins on Monday. */
const hourOfWeek = (at) => (Math.floor(at / 3600) + 72) % 168;

const UNITS = { "": 1, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** `250m`, `1`, `241M` and `1048576` as Kubernetes writes them; null for nothing. */
export function amount(text) {
  const [, digits, unit] = /^([0-9.]+)(m|k|[MGT]i?|Ki)?$/.exec(text ?? "") ?? [];
  return digits === undefined ? null : Number(digits) * UNITS[unit ?? ""];
}

const most = (values) => values.reduce((a, b) => Math.max(a, b ?? 0), 0);

/**
 * One plot for each figure of *document*; *demand* is what one pod requests, its limit, and what is advised, by figure.
 * *marks* are the steps in which the workload was changed, got a new version, and is busy by its season.
 */
export function plots(document, demand = {}, marks = {}) {
  return Object.keys(document.figures)
    .filter((name) => Object.hasOwn(FIGURES, name))
    .map((name) => plot(name, document, demand[name] ?? {}, marks));
}

function plot(name, document, { request = null, limit = null, advised = null }, { changed = [], deployed = [], busy = null }) {
  const [title, written] = FIGURES[name];
  const { say } = written;
  const { from_at: from, step_s: step, steps, pods } = document;
  const nothing = Array(steps).fill(null);
  const measures = document.figures[name];
  const of = (measure) => measures[measure] ?? nothing;
  const ofPods = (each) =>
    each == null ? nothing : pods.map((count) => (count == null ? null : each * count));
  const week = document.week?.figures[name];
  const usual = (measure) =>
    week?.[measure] == null
      ? nothing
      : nothing.map((_, index) => week[measure][hourOfWeek(from + (index + 0.5) * step)] ?? null);
  const [mean, low, high, one] = ["mean", "low", "high", "most"].map(of);
  const [requested, limited, wanted, p25, p75] = [ofPods(request), ofPods(limit), ofPods(advised), usual("p25"), usual("p75")];
  // A limit far above all use would leave the use a line on the ground.
  const fits = most(limited) <= 4 * Math.max(...[mean, high, one, requested, wanted, p75].map(most));
  const values = { usual: p75, range: high, request: requested, advised: wanted, limit: fits ? limited : nothing, most: one, mean };
  const below = { usual: p25, range: low };
  const whole = document.window[name] ?? {};
  const words = [
    `mean ${write(say, whole.mean)}`,
    `from ${write(say, whole.low)} to ${write(say, whole.high)}`,
    `one pod at most ${write(say, whole.most)}`,
    request == null ? "" : `one pod requests ${say(request)}`,
    advised == null ? "" : `advised are ${say(advised)}`,
    limit == null ? "" : `its limit is ${say(limit)}${fits ? "" : ", above this plot"}`,
  ];
  const at = (index) => from + index * step;
  return {
    key: name,
    title,
    ...written,
    words: words.filter(Boolean).join(" · "),
    from,
    to: at(steps),
    step,
    // The middle of each step: it lasts as long before as after.
    moments: nothing.map((_, index) => at(index + 0.5)),
    layers: Object.entries(LAYERS)
      .map(([layer, label]) => ({ name: layer, label, values: values[layer], below: below[layer] ?? null }))
      .filter((layer) => layer.values.some((value, index) => value != null && layer.below?.[index] !== null)),
    marks: {
      busy: runs((busy ?? []).map((is) => is || null)).map((run) => [at(run.first), at(run.first + run.values.length)]),
      deployed: [...new Set(deployed)].map((index) => at(index + 0.5)),
      changed: [...new Set(changed)].map((index) => at(index + 0.5)),
    },
    /** What was used in one step, and what happened in it, in words. */
    at: (index) => {
      const times = changed.filter((step) => step === index).length;
      const events = [
        deployed.includes(index) ? "a new version" : "",
        times === 0 ? "" : times === 1 ? "one change" : `${times} changes`,
      ].filter(Boolean);
      const band = p25[index] == null ? "" : `, usually ${say(p25[index])} to ${say(p75[index])}`;
      const asked = requested[index] == null ? "" : ` of ${say(requested[index])} requested`;
      const used = `${write(say, mean[index])}${asked}, one pod at most ${write(say, one[index])}${band}`;
      return { amounts: mean[index] == null ? "nothing is known of this moment" : used, events: events.join(" and ") };
    },
  };
}

/** Runs of steps of which *values* says something: first index and values. */
export function runs(values) {
  const found = [];
  values.forEach((value, index) => {
    if (value == null) return;
    const last = found.at(-1);
    if (last && last.first + last.values.length === index) last.values.push(value);
    else found.push({ first: index, values: [value] });
  });
  return found;
}

const write = (say, value) => (value == null ? UNKNOWN : say(value));

/** What one pod of this container requests, and its limit where the workload has no other container. */
export function demandOf(row, advice, workload, containers) {
  const of = (advice?.items ?? []).find(
    (one) => one.owner_kind === row.kind && one.owner === row.name && one.container === row.container,
  );
  const now = of?.requests_now ?? {};
  const better = of?.requests ?? {};
  const item = (workload?.items ?? []).find((one) => one.kind === row.kind && one.name === row.name);
  const pods = item?.replicas.pods ?? 0;
  const limit = (field) =>
    containers === 1 && pods > 0 && item.limits[field] ? item.limits[field] / pods : null;
  return {
    cpu_cores: { request: amount(now.cpu), limit: limit("cpu_cores"), advised: amount(better.cpu) },
    memory_bytes: { request: amount(now.memory), limit: limit("memory_bytes"), advised: amount(better.memory) },
  };
}
