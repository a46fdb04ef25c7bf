// What a workload's history looks like: a document in, paths and words out. Pure.

import { UNKNOWN, bytes, cores, percent } from "./format.js";

export const WIDTH = 600;
export const HEIGHT = 140;

/** By the name of the figure: what it is called, and how its values are written. */
const FIGURES = {
  cpu_cores: ["CPU", (value) => `${cores(value)} cores`],
  memory_bytes: ["Memory", bytes],
  throttled: ["Throttled", (value) => percent(100 * value)],
  network_received: ["Network received", (value) => `${bytes(value)}/s`],
  network_sent: ["Network sent", (value) => `${bytes(value)}/s`],
  disk_read: ["Disk read", (value) => `${bytes(value)}/s`],
  disk_written: ["Disk written", (value) => `${bytes(value)}/s`],
};

/** How far back a person can look, in seconds, and how that is written in the page's address. */
export const SPANS = { "1h": 3600, "6h": 21600, "1d": 86400, "1w": 604800, "3w": 1814400 };

/** The epoch was a Thursday; a usual week begins on Monday. */
const hourOfWeek = (at) => (Math.floor(at / 3600) + 72) % 168;

/** `250m`, `1` and `1048576` as Kubernetes writes them here; null for nothing. */
export function amount(text) {
  const [, digits, unit] = /^([0-9.]+)(m?)$/.exec(text ?? "") ?? [];
  if (digits === undefined) return null;
  return Number(digits) / (unit === "m" ? 1000 : 1);
}

const known = (values) => values.filter((value) => value != null);
const most = (values) => known(values).reduce((a, b) => Math.max(a, b), 0);

/** Runs of steps of which *values* says something: first index and values. */
function runs(values) {
  const found = [];
  values.forEach((value, index) => {
    if (value == null) return;
    const last = found.at(-1);
    if (last && last.first + last.values.length === index) last.values.push(value);
    else found.push({ first: index, values: [value] });
  });
  return found;
}

/** One plot for each figure of *document*; *demand* is what one pod requests, and its limit, by figure. */
export function plots(document, demand = {}) {
  return Object.keys(document.figures)
    .filter((name) => Object.hasOwn(FIGURES, name))
    .map((name) => plot(name, document, demand[name] ?? {}));
}

function plot(name, document, { request = null, limit = null }) {
  const [title, say] = FIGURES[name];
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
  const [requested, limited, p25, p75] = [ofPods(request), ofPods(limit), usual("p25"), usual("p75")];
  const drawn = Math.max(...[mean, high, one, requested, p75].map(most));
  // A limit far above all use would leave the use a line on the ground.
  const fits = most(limited) <= 4 * drawn;
  const top = Math.max(drawn, fits ? most(limited) : 0) || 1;
  const x = (index) => ((index / Math.max(1, steps)) * WIDTH).toFixed(1);
  const y = (value) => (HEIGHT - 2 - (value / top) * (HEIGHT - 8)).toFixed(1);
  const line = (values) =>
    runs(values)
      .map((run) => {
        // Each step is as wide as it lasts: what one step says is seen, too.
        const corners = run.values.map((value, index) => `${x(run.first + index)} ${y(value)}H${x(run.first + index + 1)}`);
        return `M${corners.join("L")}`;
      })
      .join("");
  const between = (below, above) => {
    const both = above.map((value, index) => (value == null || below[index] == null ? null : index));
    return runs(both)
      .map(({ first, values }) => {
        const there = values.map((index, place) => `${x(first + place)} ${y(above[index])}H${x(first + place + 1)}`);
        const back = values.map((index, place) => `${x(first + place + 1)} ${y(below[index])}H${x(first + place)}`).reverse();
        return `M${there.join("L")}L${back.join("L")}Z`;
      })
      .join("");
  };
  const whole = document.window[name] ?? {};
  const words = [
    `mean ${write(say, whole.mean)}`,
    `from ${write(say, whole.low)} to ${write(say, whole.high)}`,
    `one pod at most ${write(say, whole.most)}`,
    request == null ? "" : `one pod requests ${say(request)}`,
    limit == null ? "" : `its limit is ${say(limit)}${fits ? "" : ", above this plot"}`,
  ];
  return {
    key: name,
    title,
    top: say(top),
    words: words.filter(Boolean).join(" · "),
    paths: {
      usual: between(p25, p75),
      range: between(low, high),
      mean: line(mean),
      most: line(one),
      request: line(requested),
      limit: fits ? line(limited) : "",
    },
    steps,
    /** What is known of one step, in words. */
    at: (index) => {
      if (mean[index] == null) return "nothing is known of this moment";
      const band = p25[index] == null ? "" : `, usually ${say(p25[index])} to ${say(p75[index])}`;
      const asked = requested[index] == null ? "" : ` of ${say(requested[index])} requested`;
      return `${say(mean[index])}${asked}, one pod at most ${write(say, one[index])}${band}`;
    },
  };
}

const write = (say, value) => (value == null ? UNKNOWN : say(value));

/** What one pod of this container requests, and its limit where the workload has no other container. */
export function demandOf(row, advice, workload, containers) {
  const of = (advice?.items ?? []).find(
    (one) => one.owner_kind === row.kind && one.owner === row.name && one.container === row.container,
  );
  const now = of?.requests_now ?? {};
  const item = (workload?.items ?? []).find((one) => one.kind === row.kind && one.name === row.name);
  const pods = item?.replicas.pods ?? 0;
  const limit = (field) =>
    containers === 1 && pods > 0 && item.limits[field] ? item.limits[field] / pods : null;
  return {
    cpu_cores: { request: amount(now.cpu), limit: limit("cpu_cores") },
    memory_bytes: { request: amount(now.memory), limit: limit("memory_bytes") },
  };
}
