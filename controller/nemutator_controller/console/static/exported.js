// Rows of a list as files that other programs read. Pure.

import { UNKNOWN } from "./format.js";

/** Spreadsheets take a cell that begins with one of these for a formula, and strangers choose names. */
const FORMULA = /^[=+\-@\t\r]/;

function field(text) {
  const plain = text === UNKNOWN ? "" : text;
  const safe = FORMULA.test(plain) && !/^-?\d+(\.\d+)?$/.test(plain) ? `'${plain}` : plain;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const line = (fields) => fields.map(field).join(",");

/** As RFC 4180 has it; what is not known is empty. */
export const csv = (columns, rows) =>
  [line(columns), ...rows.map(({ cells }) => line(cells.map(({ text }) => text)))].join("\r\n") + "\r\n";

/** The items of the API that *rows* were made of. */
export const json = (rows) => `${JSON.stringify(rows.map(({ item }) => item), null, 2)}\n`;
