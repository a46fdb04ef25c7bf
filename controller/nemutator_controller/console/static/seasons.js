// Seasons: which it is, why, and what is in force in it. Pure: a document in, rows out.

import { ago, cell, lines, place } from "./cells.js";
import { percent, span, visible } from "./format.js";
import { drawing } from "./history.js";
import { historyHref } from "./inventory.js";

const GRADES = {
  peak: "notice",
  "pre-peak": "notice",
  surprise: "suffer",
  "off-peak": "calm",
};

/** Slots of a day, one after another, as something that can be drawn. */
const pointsOf = (values) => values.map((value, number) => ({ at: number, value }));

/** The day that is expected, drawn, and what the drawing shows in words. */
function day(one) {
  if (one.day == null) return cell(one.spans.length > 0 ? "" : "no day can be foretold");
  const most = Math.max(...one.day.expected, 0);
  const words = `up to ${most.toFixed(2)} cores expected`;
  return cell(words, { drawn: drawing(pointsOf(one.day.expected), "value", 160, 40) });
}

const spans = (one) => lines(...one.spans.map(({ season, begin, end }) => `${season} from ${begin} to ${end}`));

const measured = (one) =>
  lines(
    one.skill == null ? "" : `${percent(100 * one.skill)} better than a median`,
    one.coverage == null ? "" : `${percent(100 * one.coverage)} of points in its interval`,
  );

const workload = (one, now) => ({
  key: `of ${[one.namespace, one.kind, one.name].join("\n")}`,
  cells: [
    cell(one.name === "" ? "all together" : `${one.kind} ${place(one.namespace, one.name)}`),
    cell(one.season, { grade: GRADES[one.season] ?? "none", title: visible(one.reason) }),
    ago(one.since || null, now),
    lines(one.reason, one.seasonal == null && one.planned_at != null ? `it follows a day that was foretold ${span(now - one.planned_at)} ago` : ""),
    day(one),
    spans(one),
    measured(one),
  ],
  links: one.name === "" ? [] : [{ text: "workload", href: historyHref(one.namespace, one.kind, one.name) }],
});

const brain = (one, now) => ({
  key: `policy ${one.kind} ${one.name}`,
  cells: [
    cell(`${one.kind} ${one.name}`),
    cell(one.in_force ? "in force" : "not in force", { grade: one.in_force ? "notice" : "none" }),
    ago(one.since, now),
    lines(one.why, one.held ? "it stays so until its season is over" : ""),
    cell(""),
    cell(""),
    cell(""),
  ],
  links: [],
  rollback: one.decision && !one.held ? { id: one.decision, object: `${one.kind} ${one.name}` } : null,
});

export const seasons = {
  title: "Seasons",
  about:
    "When workloads are busy, found in what they used, and which policies follow that. The first rows are policies with a season; then all workloads together, and those that have a season.",
  empty: "No use has been reported yet.",
  path: "/api/v1/seasons",
  columns: ["Of", "Now", "Since", "Why", "Its day", "Seasons", "Forecast"],
  acts: true,
  note: ({ calendar, left_off: left = 0 }) =>
    [
      calendar?.compressed ? `A day here takes ${span(calendar.day_s)}.` : "",
      left > 0 ? `${left} more: nemutator seasons finds them.` : "",
    ]
      .filter(Boolean)
      .join(" "),
  items: ({ switches = [], cluster = null, items = [] }) => [
    ...switches.map((one) => ({ ...one, is: "policy" })),
    ...(cluster == null ? [] : [cluster]),
    ...items,
  ],
  row: (one, now) => (one.is === "policy" ? brain(one, now) : workload(one, now)),
};
