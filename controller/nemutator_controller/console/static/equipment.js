// What a machine has: file systems, network interfaces, sensors. Pure: a machine in, rows out.

import { UNKNOWN, bytes, percent, visible } from "./format.js";

/** A full file system stops what writes to it: this is soon enough to be seen. */
const NOTICE = 0.85;
const SUFFER = 0.95;

/** With more, a page is filled by what nobody asked about. */
export const MOST = 40;

const fileSystem = ({ path, device, kind, total_bytes: total, used_bytes: used }) => {
  const share = total > 0 ? used / total : 0;
  return {
    key: `file system ${path}`,
    cells: [path, `${kind} on ${device}`, `${bytes(used)} of ${bytes(total)} (${percent(100 * share)})`],
    grade: share >= SUFFER ? "suffer" : share >= NOTICE ? "notice" : "none",
  };
};

const wire = ({ name, is_up: up, megabits, traffic }) => {
  const { received, sent, drops, errors } = traffic;
  const lost = (drops ?? 0) + (errors ?? 0);
  const state = [up == null ? "" : up ? "up" : "down", megabits > 0 ? `${megabits} Mbit/s` : ""];
  const words = [`${bytes(received)}/s in`, `${bytes(sent)}/s out`];
  if (lost > 0) words.push(`${lost.toFixed(1)} dropped or broken packets/s`);
  return {
    key: `interface ${name}`,
    cells: [name, ["network", ...state].filter(Boolean).join(", "), words.join(", ")],
    grade: lost > 0 ? "notice" : "none",
  };
};

const sensor = ({ sensor: name, celsius }) => ({
  key: `sensor ${name}`,
  cells: [name, "temperature", `${celsius.toFixed(0)} °C`],
  grade: "none",
});

/** A row for each part; cells are safe to read. */
export function equipment(machine) {
  const found = [
    ...(machine.file_systems ?? []).map(fileSystem),
    ...(machine.interfaces ?? []).map(wire),
    ...(machine.temperatures ?? []).map(sensor),
  ];
  const seen = new Map();
  return found.slice(0, MOST).map((row) => {
    const times = seen.get(row.key) ?? 0;
    seen.set(row.key, times + 1);
    return { ...row, key: `${row.key}\n${times}`, cells: row.cells.map((text) => visible(text) || UNKNOWN) };
  });
}
