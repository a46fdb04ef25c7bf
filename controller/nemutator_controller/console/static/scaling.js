// What rises before a peak, and what is requested more than once: ForecastScalers and oversold nodes. Pure.

import { cell, lines, place, stacked } from "./cells.js";
import { UNKNOWN, counted, percent, span, visible } from "./format.js";
import { NODES, historyHref, more } from "./inventory.js";

const MODES = { Apply: "calm", Preview: "notice" };

const number = (value) => (value == null ? UNKNOWN : String(value));
const times = (value) => (value == null ? UNKNOWN : `${value.toFixed(2)} ×`);
const some = (value) => (value == null ? UNKNOWN : value.toFixed(2));

/** The cores that are used now, and those that are expected. */
const forecast = ({ now_cores: now, ahead_cores: ahead, upper_cores: upper, lead_s: lead, skill }) =>
  ahead == null
    ? cell("")
    : lines(
        `${some(now)} cores now, ${some(ahead)} in ${span(lead)}`,
        upper == null ? "" : `up to ${some(upper)}`,
        skill == null ? "" : `${percent(100 * skill)} better than a median`,
      );

export const scalers = {
  title: "Scalers",
  about:
    "ForecastScalers: which minimum of an autoscaler rises before a peak that is foretold, how far, and why. The owner's own minimum stays the least, and its maximum the most.",
  empty: "There is no ForecastScaler, or none was looked at yet. They name a HorizontalPodAutoscaler of a cluster, and write nothing in the mode Preview.",
  path: "/api/v1/scalers",
  note: ({ left_off: left = 0 }) => (left > 0 ? `${left} more: /api/v1/scalers?namespace=… has them.` : ""),
  columns: ["Scaler", "Mode", "Minimum", "Forecast", "Spare for", "State", "Why"],
  acts: true,
  row: (one) => {
    const [kind, name] = one.workload.split("/");
    return {
      key: one.key,
      cells: [
        cell(place(one.namespace, one.name), { title: visible(one.target) }),
        cell(one.mode, { grade: MODES[one.mode] ?? "none" }),
        stacked(`${number(one.minimum)} now`, `${number(one.wanted)} wanted`, `${number(one.base)} its owner's`),
        forecast(one),
        cell(one.opportunistic == null ? "" : counted(one.opportunistic, "pod")),
        cell(one.is_raised ? "raised" : one.reason, { grade: one.reason === "faulty" ? "suffer" : one.is_raised ? "notice" : "none" }),
        cell(one.why, { wide: true }),
      ],
      links: name ? [{ text: "workload", href: historyHref(one.namespace, kind, name) }] : [],
    };
  },
};

export const oversell = {
  title: "Oversell",
  about:
    "How many times the CPU of each node can be requested, or could be, and what bounds it. Memory is never oversold. Nothing is until a NodeOversell opts nodes in.",
  empty: "No node is known of which that could be told.",
  path: `/api/v1/oversell?orderBy=ratio&limit=${NODES}`,
  searched: "node",
  note: ({ most, problem, ...document }) =>
    [more("node", "a part of a name in the filter")(document), problem ? `Nothing is decided now: ${visible(problem)}.` : "", most === 0 ? "The setting brain.oversell_nodes is 0, so nothing is oversold." : ""]
      .filter(Boolean)
      .join(" "),
  columns: ["Node", "Cores", "To request", "Requested", "Used", "Waiting", "Ratio", "Could be", "Why"],
  acts: true,
  row: (one) => ({
    key: one.node,
    cells: [
      cell(one.node, { title: visible(one.policy) }),
      cell(some(one.raw_cores)),
      cell(some(one.allocatable_cores), { title: "as the node says it, with what is oversold" }),
      cell(some(one.requested_cores)),
      cell(some(one.used_cores)),
      cell(one.waiting == null ? "" : percent(100 * one.waiting)),
      cell(times(one.ratio), { grade: one.ratio > 1 ? "notice" : "none", title: one.asked == null ? null : `asked for: ${times(one.asked)}` }),
      cell(times(one.could)),
      cell(one.why, { wide: true }),
    ],
    links: [{ text: "what runs on it", href: `#topology/${encodeURIComponent(one.node)}` }],
  }),
};
