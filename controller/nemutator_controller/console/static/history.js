// The last hour of a machine: its points, and what is drawn of them. Pure.

import { bytes, cores, span } from "./format.js";

export const WINDOW_S = 3600;

/** Known and *fresh* points, each moment once and in order, none older than the window. */
export function merge(known, fresh) {
  const byMoment = new Map([...known, ...fresh].map((point) => [point.at, point]));
  const points = [...byMoment.values()].sort((a, b) => a.at - b.at);
  const newest = points.at(-1)?.at ?? 0;
  return points.filter((point) => point.at >= newest - WINDOW_S);
}

/** How far back to ask, so that nothing is missed and little is sent twice. */
export function lacking(points, now) {
  if (points.length === 0) return WINDOW_S;
  return Math.min(WINDOW_S, Math.max(10, Math.ceil(now - points.at(-1).at) + 5));
}

/** Longer than this between two points is a gap: nothing was reported, so no line may cross it. */
function longestStep(points) {
  const steps = points.slice(1).map((point, index) => point.at - points[index].at);
  steps.sort((a, b) => a - b);
  return 4 * (steps[steps.length >> 1] ?? 0);
}

/** Runs of points without a gap and without an unknown in them. */
export function runs(points, field) {
  const longest = longestStep(points);
  const found = [];
  let run = [];
  for (const point of points) {
    const apart = run.length > 0 && point.at - run.at(-1).at > longest;
    if ((apart || point[field] == null) && run.length > 0) {
      found.push(run);
      run = [];
    }
    if (point[field] != null) run.push({ at: point.at, value: point[field] });
  }
  if (run.length > 0) found.push(run);
  return found;
}

export function highest(points, field) {
  const known = points.map((point) => point[field]).filter((value) => value != null);
  return known.length > 0 ? known.reduce((a, b) => Math.max(a, b)) : null;
}

/** SVG path data, from 0 at the bottom to the highest value, one peak kept per unit of width. */
export function drawing(points, field, width, height) {
  const top = highest(points, field) || 1;
  const start = points[0]?.at ?? 0;
  const length = (points.at(-1)?.at ?? 1) - start || 1;
  const x = (at) => ((at - start) / length) * width;
  const y = (value) => height - 2 - (value / top) * (height - 6);
  let line = "";
  let area = "";
  for (const run of runs(points, field)) {
    const peaks = new Map();
    for (const { at, value } of run) {
      const column = Math.round(x(at));
      peaks.set(column, Math.max(value, peaks.get(column) ?? 0));
    }
    const corners = [...peaks].map(([column, value]) => `${column} ${y(value).toFixed(1)}`);
    line += `M${corners.join("L")}${corners.length === 1 ? "h1" : ""}`;
    const columns = [...peaks.keys()];
    area += `M${columns[0]} ${height}L${corners.join("L")}L${columns.at(-1)} ${height}Z`;
  }
  return { line, area };
}

const HELD = {
  cpu: { title: "CPU", field: "cpu_cores", say: (value) => `${cores(value)} cores` },
  memory: { title: "Memory", field: "memory_used_bytes", say: bytes },
};

/** A plot of each of a machine's readings; none before there are two moments of it. */
export function lastHour(points) {
  if (points.length < 2) return [];
  const [from, to] = [points[0].at, points.at(-1).at];
  return Object.entries(HELD).map(([key, { title, field, say }]) => {
    const { moments, values } = apart(runs(points, field), from, to);
    const words = `highest ${write(say, highest(points, field))} in the last ${span(to - from)}`;
    return {
      key,
      title,
      words,
      say,
      brief: say,
      bare: true,
      from,
      to,
      step: null,
      moments,
      layers: [{ name: "used", label: "used", values, below: null }],
      marks: { busy: [], deployed: [], changed: [] },
      tell: (index, chosen) => {
        const then = `${write(say, values[index])}, ${span(to - moments[index])} ago`;
        return { short: chosen ? then : words, full: then };
      },
    };
  });
}

const write = (say, value) => (value == null ? "nothing is known" : say(value));

/** The points of *found* one after another, with a moment of which nothing is known between two runs, and at each end that is not known. */
function apart(found, from, to) {
  const joined = found.flatMap((run, index) => {
    const next = found[index + 1];
    return next == null ? run : [...run, { at: (run.at(-1).at + next[0].at) / 2, value: null }];
  });
  if (joined[0]?.at !== from) joined.unshift({ at: from, value: null });
  if (joined.at(-1).at !== to) joined.push({ at: to, value: null });
  return { moments: joined.map(({ at }) => at), values: joined.map(({ value }) => value) };
}
