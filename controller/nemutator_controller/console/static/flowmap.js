// Who talks to whom, as a map: callers to the left of whom they call. Pure: flows in, shapes out.

import { place } from "./cells.js";
import { bytes, counted, visible } from "./format.js";

/** More boxes than these would be no map. */
const MOST = 60;
const WIDE = 190;
const HIGH = 30;
const BETWEEN = 110;
const BELOW = 12;
const LONGEST = 27;

/** Pods of one workload are one box. */
function nameOf({ kind, namespace, name, owner_kind: ownerKind, owner, address }) {
  if (owner) return { key: `${ownerKind} ${place(namespace, owner)}`, text: place(namespace, owner), kind: "workload" };
  return { key: `${kind} ${place(namespace, name)}`, text: place(namespace, name) || address, kind };
}

/** Boxes and the lines between them: what both ends tell of is counted once. */
export function graphOf(flows) {
  const nodes = new Map();
  const edges = new Map();
  for (const flow of flows) {
    const out = flow.direction === "out";
    const [from, to] = (out ? [flow.pod, flow.peer] : [flow.peer, flow.pod]).map(nameOf);
    if (from.key === to.key) continue;
    for (const end of [from, to]) if (!nodes.has(end.key)) nodes.set(end.key, { ...end, rate: 0 });
    const key = `${from.key}\n${to.key}`;
    const edge = edges.get(key) ?? { from: from.key, to: to.key, ports: new Set(), told: { in: 0, out: 0 } };
    edge.told[out ? "out" : "in"] += (flow.sent ?? 0) + (flow.received ?? 0);
    edge.ports.add(`${flow.port}/${flow.protocol}`);
    edges.set(key, edge);
  }
  const lines = [...edges.values()].map(({ from, to, ports, told }) => ({ from, to, ports: [...ports], rate: Math.max(told.in, told.out) }));
  for (const { from, to, rate } of lines) for (const end of [from, to]) nodes.get(end).rate += rate;
  return { nodes: [...nodes.values()], edges: lines };
}

/** The busiest boxes, and the lines among them. */
function busiest({ nodes, edges }) {
  const kept = [...nodes].sort((a, b) => b.rate - a.rate || (a.key < b.key ? -1 : 1)).slice(0, MOST);
  const keys = new Set(kept.map(({ key }) => key));
  return { nodes: kept, edges: edges.filter(({ from, to }) => keys.has(from) && keys.has(to)), left: nodes.length - kept.length };
}

/** By box, its column: right of all that call it, where they do not call each other in a ring. */
function columns(nodes, edges) {
  const calls = new Map(nodes.map(({ key }) => [key, []]));
  for (const { from, to } of edges) calls.get(from).push(to);
  const called = new Set(edges.map(({ to }) => to));
  const order = [];
  const seen = new Map();
  const ahead = new Set();
  const visit = (key) => {
    seen.set(key, "open");
    for (const next of calls.get(key)) {
      if (seen.get(next) === "open") continue;
      ahead.add(`${key}\n${next}`);
      if (!seen.has(next)) visit(next);
    }
    seen.set(key, "done");
    order.unshift(key);
  };
  for (const { key } of [...nodes.filter(({ key }) => !called.has(key)), ...nodes]) if (!seen.has(key)) visit(key);
  const column = new Map(nodes.map(({ key }) => [key, 0]));
  for (const key of order) {
    for (const next of calls.get(key)) {
      if (ahead.has(`${key}\n${next}`)) column.set(next, Math.max(column.get(next), column.get(key) + 1));
    }
  }
  return column;
}

/** Boxes of each column from top to bottom, each near those that it talks with. */
function stacked(nodes, edges, column) {
  const found = [];
  for (const { key } of nodes) (found[column.get(key)] ??= []).push(key);
  const stacks = found.map((stack) => stack ?? []);
  const row = new Map();
  const number = (stack) => stack.forEach((key, index) => row.set(key, index));
  stacks.forEach(number);
  const near = new Map(nodes.map(({ key }) => [key, []]));
  for (const { from, to } of edges) {
    near.get(from).push(to);
    near.get(to).push(from);
  }
  for (let turn = 0; turn < 4; turn += 1) {
    for (const stack of stacks) {
      const middle = new Map(stack.map((key) => {
        const rows = near.get(key).map((other) => row.get(other));
        return [key, rows.length === 0 ? row.get(key) : rows.reduce((a, b) => a + b, 0) / rows.length];
      }));
      stack.sort((a, b) => middle.get(a) - middle.get(b));
      number(stack);
    }
  }
  return stacks;
}

const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** The map of *flows*: boxes, lines, its size, and what it shows in words; null where nobody talks. */
export function map(flows) {
  const { nodes, edges, left } = busiest(graphOf(flows));
  if (nodes.length === 0) return null;
  const stacks = stacked(nodes, edges, columns(nodes, edges));
  const tallest = Math.max(...stacks.map((stack) => stack.length));
  const height = tallest * (HIGH + BELOW) + BELOW;
  const at = new Map();
  stacks.forEach((stack, index) => {
    const top = (height - stack.length * (HIGH + BELOW) + BELOW) / 2;
    stack.forEach((key, row) => at.set(key, { x: 1 + index * (WIDE + BETWEEN), y: top + row * (HIGH + BELOW) }));
  });
  const named = new Map(nodes.map((node) => [node.key, node]));
  const most = Math.max(1, ...edges.map(({ rate }) => rate));
  return {
    width: stacks.length * (WIDE + BETWEEN) - BETWEEN + 2,
    height,
    boxes: nodes.map(({ key, text, kind, rate }) => ({
      key: visible(key),
      ...at.get(key),
      width: WIDE,
      height: HIGH,
      kind,
      text: visible(short(text)),
      title: visible(`${key}: ${bytes(rate)}/s`),
    })),
    lines: edges.map(({ from, to, ports, rate }) => {
      const [begin, end] = [at.get(from), at.get(to)];
      const [x, y, toX, toY] = [begin.x + WIDE, begin.y + HIGH / 2, end.x, end.y + HIGH / 2];
      const bend = Math.max(50, Math.abs(toX - x) / 2);
      return {
        key: visible(`${from} ${to}`),
        d: `M${x} ${y}C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`,
        // From 1 to 8: a line a thousand times as busy is not a thousand times as wide.
        width: (1 + (7 * Math.log1p(rate)) / Math.log1p(most)).toFixed(1),
        title: visible(`${named.get(from).text} → ${named.get(to).text}: ${bytes(rate)}/s, ${ports.slice(0, 6).join(", ")}`),
      };
    }),
    words:
      `A map of ${counted(nodes.length, "box", "boxes")} and ${counted(edges.length, "line")}; callers are to the left of whom they call. The table has the same.` +
      (left > 0 ? ` ${counted(left, "box", "boxes")} with less traffic are left out.` : ""),
  };
}
