// From one node of the topology to the rows that are shown. Pure.
//
// An entry is a workload (a cgroup) or a process: {key, kind, name, script, path, pid, cpu, summed,
// memory, waiting, waits, count, runtimes, detail, open, children}. null means: not known.

import { counted, runtime, visible, worst } from "./format.js";

const OPEN_AT_FIRST = new Set(["root", "slice"]);

const NAMED_PROGRAMS = 3;

/** Who has not run longer than so many seconds is one of many programs that live for seconds. */
const BRIEF_S = 10;

export const GROUP_LIMIT = 40;
/** With more rows, the page could not be redrawn in a few milliseconds. */
export const ROW_LIMIT = 1500;

export function build(node) {
  const groups = new Map(node.workloads.map((workload) => [workload.path, group(workload)]));
  const roots = [];
  for (const [path, entry] of groups) {
    (nearest(groups, above(path))?.children ?? roots).push(entry);
  }
  const brief = new Map();
  for (const one of node.processes.filter(({ started_at: at }) => node.seen_at - at < BRIEF_S)) {
    brief.set(one.workload, [...(brief.get(one.workload) ?? []), one]);
  }
  for (const process of node.processes) {
    const siblings = nearest(groups, process.workload)?.children ?? roots;
    const together = brief.get(process.workload) ?? [];
    if (together.length < 2 || !together.includes(process)) siblings.push(leaf(process));
    else if (together[0] === process) siblings.push(briefly(process.workload, together.map(leaf)));
  }
  roots.forEach(sum);
  return roots;
}

function group(workload) {
  const [waiting, waits] = worst(waitingIn(workload.pressures));
  return {
    key: `w:${workload.path}`,
    kind: workload.kind,
    name: workload.kind === "root" ? "whole machine" : visible(workload.name),
    path: visible(workload.path),
    pid: null,
    cpu: workload.cpu_cores,
    summed: workload.cpu_is_summed ?? false,
    script: "",
    memory: workload.memory_bytes,
    waiting,
    waits,
    count: 0,
    runtimes: [],
    detail: workload.kind,
    open: OPEN_AT_FIRST.has(workload.kind),
    children: [],
  };
}

const total = (entries, column) => entries.reduce((sum, entry) => sum + (entry[column] ?? 0), 0);

/** Programs that live for seconds, as one entry that can be unfolded. */
function briefly(path, children) {
  return {
    key: `b:${path}`,
    kind: "brief",
    name: `${children.length} programs that live for seconds`,
    path: visible(path),
    pid: null,
    cpu: total(children, "cpu"),
    summed: true,
    script: "",
    memory: total(children, "memory"),
    waiting: null,
    waits: "",
    count: children.length,
    runtimes: [],
    detail: "",
    open: false,
    children,
  };
}

const waitingIn = ({ cpu, memory, io }) => ({
  cpu: cpu?.some_10s,
  memory: memory?.some_10s,
  io: io?.some_10s,
});

function leaf(process) {
  return {
    key: `p:${process.pid}:${process.started_at}`,
    kind: "process",
    name: visible(process.command),
    script: visible(process.script ?? ""),
    path: visible(process.workload),
    pid: process.pid,
    cpu: process.cpu_cores,
    summed: false,
    memory: process.memory_bytes,
    waiting: null,
    waits: "",
    count: process.threads,
    runtimes: process.runtime
      ? [visible(runtime(process.runtime, process.runtime_version))]
      : [],
    detail: [visible(process.script ?? ""), `pid ${process.pid}`].filter(Boolean).join(" · "),
    open: false,
    children: [],
  };
}

function above(path) {
  if (path === "/") return null;
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** The closest group at or above *path*: an agent may leave out some in between. */
function nearest(groups, path) {
  for (let at = path; at != null; at = above(at)) {
    if (groups.has(at)) return groups.get(at);
    if (!at.includes("/")) return undefined;
  }
  return undefined;
}

/** Give each group what follows from those below: their number, and its own runtimes and programs. */
function sum(entry) {
  if (entry.kind === "process") return 1;
  entry.count = entry.children.reduce((total, child) => total + sum(child), 0);
  const own = entry.children.filter((child) => child.kind === "process");
  entry.runtimes = [...new Set(own.flatMap((child) => child.runtimes))].sort();
  // The name of a container is only digits: the programs in it are shown too, also while it is folded.
  const programs = [...new Set(own.map(called))].sort();
  const named = [...programs.slice(0, NAMED_PROGRAMS), ...(programs[NAMED_PROGRAMS] ? ["…"] : [])];
  if (entry.kind !== "root") entry.detail = [entry.detail, named.join(", ")].filter(Boolean).join(" · ");
  // A group that only holds other groups is open at first, like a slice.
  entry.open ||= entry.kind === "group" && own.length < entry.children.length;
  return entry.count;
}

/** `python main.py` for one that runs /srv/shop/main.py. */
function called({ name, script }) {
  const last = script.split("/").at(-1);
  return last && last !== name ? `${name} ${last}` : name;
}

/**
 * Only what *matches*, with all that is above it unfolded; what is below a match can be unfolded.
 */
export function narrow(entries, matches) {
  return entries.flatMap((entry) => {
    const below = narrow(entry.children, matches);
    const hit = matches(entry);
    if (!hit && below.length === 0) return [];
    const open = below.length > 0;
    if (!hit) return [{ ...entry, open, children: below }];
    const narrowed = new Map(below.map((child) => [child.key, child]));
    const children = entry.children.map((child) => narrowed.get(child.key) ?? folded(child));
    return [{ ...entry, open, children }];
  });
}

function folded(entry) {
  return { ...entry, open: false, children: entry.children.map(folded) };
}

export function count(entries, matches = () => true) {
  return entries.reduce(
    (total, entry) => total + (matches(entry) ? 1 : 0) + count(entry.children, matches),
    0,
  );
}

const TURN = { process: 1, brief: 2 };
const turn = ({ kind }) => TURN[kind] ?? 0;

/** The order of siblings: groups before processes, what is not known last, ties by name. */
export function ordering(column, descending) {
  const sign = descending ? -1 : 1;
  return (a, b) =>
    turn(a) - turn(b) ||
    (column === "name" ? sign * byName(a, b) : byNumber(a[column], b[column], sign)) ||
    byName(a, b) ||
    (a.pid ?? 0) - (b.pid ?? 0);
}

function byNumber(a, b, sign) {
  if (a == null || b == null) return (a == null) - (b == null);
  return sign * (a - b);
}

const collator = new Intl.Collator("en", { numeric: true });

function byName(a, b) {
  return collator.compare(a.name, b.name);
}

/**
 * What is unfolded, as a flat list of rows: {key, level, position, size, parent} with an `entry`
 * and `expanded` (null when there is nothing below), or with `says`, where a limit holds some back.
 * *isOpen* and *limitOf* answer for one entry, or the key of a parent, what a person has chosen.
 */
export function flatten(roots, { order, isOpen, limitOf }) {
  const rows = [];
  const visit = (entries, level, parent) => {
    const shown = [...entries].sort(order).slice(0, limitOf(parent));
    const size = entries.length;
    for (const [index, entry] of shown.entries()) {
      const expanded = entry.children.length > 0 ? isOpen(entry) : null;
      rows.push({ key: entry.key, level, position: index + 1, size, parent, entry, expanded });
      if (expanded) visit(entry.children, level + 1, entry.key);
      if (rows.length >= ROW_LIMIT) return;
    }
    const hidden = size - shown.length;
    if (hidden > 0) {
      const says = `Show ${Math.min(hidden, GROUP_LIMIT)} more, ${hidden} are hidden`;
      rows.push({ key: `more:${parent}`, level, position: shown.length + 1, size, parent, says });
    }
  };
  visit(roots, 1, "");
  if (rows.length < ROW_LIMIT) return rows;
  const says = `Only ${ROW_LIMIT} rows are shown: fold some, or filter`;
  return [
    ...rows.slice(0, ROW_LIMIT),
    { key: "limit", level: 1, position: 1, size: 1, parent: null, says },
  ];
}

export function summary(entries) {
  const processes = count(entries, (entry) => entry.kind === "process");
  const groups = count(entries, (entry) => entry.kind !== "brief") - processes;
  return `${counted(groups, "group")}, ${counted(processes, "process", "processes")}`;
}
