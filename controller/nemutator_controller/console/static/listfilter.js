// What a person types into the filter of a list, as a question about one of its rows; and what the
// cells of a row amount to, so that columns can be compared. Pure.

import { UNKNOWN } from "./format.js";

const KILO = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
const UNITS = {
  ...KILO,
  ...Object.fromEntries(["Ki", "Mi", "Gi", "Ti"].map((unit) => [`${unit}B`, KILO[unit]])),
  m: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
  d: 86400,
};

/** The amount that *text* begins with, in its base unit; null where it begins with a word. */
export function amountOf(text) {
  const [, digits, unit] = /^(?:used |requests |<)?(-?\d+(?:\.\d+)?)(?: ?([A-Za-z]+))?/.exec(text) ?? [];
  if (digits === undefined) return null;
  return Number(digits) * (Object.hasOwn(UNITS, unit ?? "") ? UNITS[unit] : 1);
}

/** The name of a column in filters and addresses. */
export const keyOf = (name) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

/** The place of the column that *key* names by its beginning; -1 for none. */
export function placeOf(columns, key) {
  const keys = columns.map(keyOf);
  const exact = keys.indexOf(key);
  return exact >= 0 || key === "" ? exact : keys.findIndex((one) => one.startsWith(key));
}

const textAt = (row, place) => row.cells[place]?.text.toLowerCase() ?? "";

const BEYOND = { ">": (one, other) => one > other, "<": (one, other) => one < other };

function term(word, columns) {
  if (word.length > 1 && word.startsWith("-")) {
    const inner = term(word.slice(1), columns);
    return (row) => !inner(row);
  }
  const [, key, sign, wanted] = /^([a-z-]+)([:<>])(.+)$/i.exec(word) ?? [];
  const place = key === undefined ? -1 : placeOf(columns, key.toLowerCase());
  const small = (wanted ?? "").toLowerCase();
  if (key === "id" && sign === ":") return (row) => row.key.toLowerCase().startsWith(small);
  if (place >= 0 && sign === ":") return (row) => textAt(row, place).includes(small);
  const bound = wanted === undefined ? null : amountOf(wanted);
  if (place >= 0 && bound != null) {
    return (row) => {
      const amount = amountOf(row.cells[place]?.text ?? "");
      return amount != null && BEYOND[sign](amount, bound);
    };
  }
  // Names may contain a colon: a word with another key is looked for everywhere.
  const all = word.toLowerCase();
  return (row) => row.cells.some(({ text }) => text.toLowerCase().includes(all));
}

/** All words must hold: `name`, `-name`, `column:word`, `column>2GiB`. Null when nothing is asked. */
export function parse(typed, columns) {
  const words = typed.split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const terms = words.map((word) => term(word, columns));
  return (row) => terms.every((holds) => holds(row));
}

function compared(one, other) {
  const [first, second] = [amountOf(one), amountOf(other)];
  if (first != null && second != null) return first - second;
  return one.localeCompare(other, undefined, { numeric: true });
}

/** *rows* by what stands in one column; what is not known comes last either way. */
export function sorted(rows, { column, descending }) {
  const textOf = (row) => row.cells[column]?.text ?? UNKNOWN;
  const sign = descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [first, second] = [textOf(one), textOf(other)];
    const unknown = (first === UNKNOWN) - (second === UNKNOWN);
    return unknown || sign * compared(first, second);
  });
}
