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
export const SPANS = { "1h": 3600, "6h": 21600, "1d": 86400, "1w": 604800, "3w": 1814400, "4w": 2419200 };

/** The epoch was a Thursday; a usual week begins on Monday. */
const hourOfWeek = (at) => (Math.floor(at / 3600) + 72) % 168;

const UNITS = { "": 1, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** `250m`, `1`, `241M` and `1048576` as Kubernetes writes them; null for nothing. */
export function amount(text) {
  const [, digits, unit] = /^([0-9.]+)(m|k|[MGT]i?|Ki)?$/.exec(text ?? "") ?? [];
  return digits === undefined ? null : Number(digits) * UNITS[unit ?? ""];
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
  const [requested, limited, wanted, p25, p75] = [ofPods(request), ofPods(limit), ofPods(advised), usual("p25"), usual("p75")];
  const drawn = Math.max(...[mean, high, one, requested, wanted, p75].map(most));
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
    advised == null ? "" : `advised are ${say(advised)}`,
    limit == null ? "" : `its limit is ${say(limit)}${fits ? "" : ", above this plot"}`,
  ];
  return {
    key: name,
    title,
    top: say(top),
    words: words.filter(Boolean).join(" · "),
    paths: {
      busy: runs((busy ?? []).map((one) => one || null))
        .map(({ first, values }) => `M${x(first)} 0H${x(first + values.length)}V${HEIGHT}H${x(first)}Z`)
        .join(""),
      changed: upright(changed, x),
      deployed: upright(deployed, x),
      usual: between(p25, p75),
      range: between(low, high),
      mean: line(mean),
      most: line(one),
      request: line(requested),
      advised: line(wanted),
      limit: fits ? line(limited) : "",
    },
    steps,
    /** What is known of one step, in words. */
    at: (index) => {
      const times = changed.filter((one) => one === index).length;
      const then = [
        deployed.includes(index) ? "a new version" : "",
        times === 0 ? "" : times === 1 ? "one change" : `${times} changes`,
      ].filter(Boolean);
      const also = then.length === 0 ? "" : `; ${then.join(" and ")} then`;
      if (mean[index] == null) return `nothing is known of this moment${also}`;
      const band = p25[index] == null ? "" : `, usually ${say(p25[index])} to ${say(p75[index])}`;
      const asked = requested[index] == null ? "" : ` of ${say(requested[index])} requested`;
      return `${say(mean[index])}${asked}, one pod at most ${write(say, one[index])}${band}${also}`;
    },
  };
}

/** A line from top to bottom at each of some steps. */
const upright = (steps, x) => [...new Set(steps)].map((index) => `M${x(index + 0.5)} 0V${HEIGHT}`).join("");

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
