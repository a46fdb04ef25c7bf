// The last hour of a machine: its points, and the line and area that are drawn of them. Pure.

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

/** The point nearest to *part* (0 to 1) of the drawn time. */
export function at(points, part) {
  if (points.length === 0) return null;
  const moment = points[0].at + part * (points.at(-1).at - points[0].at);
  return points.reduce((a, b) => (Math.abs(b.at - moment) < Math.abs(a.at - moment) ? b : a));
}
