// From the list of nodes to the rows that are shown of it. Pure.

import { bytes, cores, counted, percent, span, visible, worst } from "./format.js";

/** With more rows, the page could not be redrawn in a few milliseconds. */
export const MOST_ROWS = 200;

/** Names are sorted from the first, and everything else from the largest. */
const ASCENDS_AT_FIRST = new Set(["name"]);

export const SORTED_BY = new Set(["name", "cpu", "memory", "waiting", "processes", "seen"]);

export const FIRST_ORDER = { column: "name", descending: false };

/** The order after a person asked for *column*: a second time turns it round. */
export function reordered({ column: before, descending }, column) {
  return { column, descending: column === before ? !descending : !ASCENDS_AT_FIRST.has(column) };
}

export const hrefOf = (name) => `#topology/${encodeURIComponent(name)}`;

function row({ name, age_s: seen, stale, sums }) {
  const [waiting, waits] = worst(sums.waiting);
  const share = sums.cpu_cores == null ? null : sums.cpu_cores / sums.cpus;
  return {
    key: name,
    name: visible(name),
    href: hrefOf(name),
    stale,
    cpu: share,
    cpuText: [cores(sums.cpu_cores), ` of ${sums.cpus}`],
    memory: sums.memory_used_bytes / sums.memory_bytes,
    memoryText: [bytes(sums.memory_used_bytes), ` of ${bytes(sums.memory_bytes)}`],
    waiting,
    waitingText: `${waits} ${percent(waiting)}`.trim(),
    processes: sums.processes,
    seen,
    seenText: `${span(seen)} ago`,
  };
}

/** The rows that have every word of *wanted*, in *order*, and how many there are of them in all. */
export function listed(items, wanted, order) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const has = ({ name, stale }) =>
    words.every((word) => name.toLowerCase().includes(word) || (stale && word === "stale"));
  const matching = items.map(row).filter(has).sort(comparing(order));
  return { rows: matching.slice(0, MOST_ROWS), count: matching.length };
}

const collator = new Intl.Collator("en", { numeric: true });

const byName = (a, b) => collator.compare(a.name, b.name);

/** What is not known comes last either way. */
function comparing({ column, descending }) {
  const sign = descending ? -1 : 1;
  if (column === "name") return (a, b) => sign * byName(a, b);
  return (a, b) =>
    (a[column] == null) - (b[column] == null) ||
    sign * (a[column] - b[column] || 0) ||
    byName(a, b);
}

/** How many nodes there are, what they use together, and how many are stale. */
export function summary(items) {
  const sum = (of) => items.reduce((total, { sums }) => total + (of(sums) ?? 0), 0);
  const stale = items.filter((item) => item.stale).length;
  return [
    counted(items.length, "node"),
    `${sum((sums) => sums.cpu_cores).toFixed(1)} of ${counted(sum((sums) => sums.cpus), "core")}`,
    `${bytes(sum((sums) => sums.memory_used_bytes))} of ${bytes(sum((sums) => sums.memory_bytes))}`,
    ...(stale > 0 ? [`${stale} stale`] : []),
  ].join(" · ");
}

/** What is shown of *all* nodes, in words. */
export function shownOf(rows, count, items) {
  const found = count < items.length ? `${count} of ${summary(items)}` : summary(items);
  return rows < count ? `${found}; the first ${rows} are shown` : found;
}
