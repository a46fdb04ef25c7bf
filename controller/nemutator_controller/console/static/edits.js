// What was changed of an object, as lines of a diff. Pure.

import { visible } from "./format.js";

/** A whole container can be a value; more lines than this are read with the command line. */
const MOST_LINES = 400;
const WIDTH = 76;

/** *value*, an array of none or one, as lines; empty where the field is absent. */
function written(value) {
  if (value == null || value.length === 0) return [];
  const short = JSON.stringify(value[0]);
  return short.length <= WIDTH ? [short] : JSON.stringify(value[0], null, 2).split("\n");
}

const signed = (sign, value) => written(value).map((text) => ({ sign, text: visible(text) }));

/** One field: its path, what it was, what it is, and who wants that. */
export function changeOf({ path, before, after, policy, reason }) {
  const why = [policy, reason].filter(Boolean).join(": ");
  const gone = signed("-", before);
  const come = signed("+", after);
  const note = why ? `by ${why}` : "";
  return [
    { sign: "path", text: visible(path) },
    ...gone,
    ...come,
    ...(gone.length + come.length === 0 ? [{ sign: "note", text: "its value is not kept" }] : []),
    ...(note ? [{ sign: "note", text: visible(note) }] : []),
  ];
}

/** Lines of all *edits*. */
export function diff(edits) {
  const lines = edits.flatMap(changeOf);
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), { sign: "note", text: `and ${more} lines more` }] : lines;
}

/** What one step of a plan puts in the place of what is there now. */
export const stepLines = ({ live, before, verdict }) =>
  verdict === "reverse" ? [...signed("-", live), ...signed("+", before)] : signed("note", live);
