// Which two profiles a person wants beside each other. Pure: choices in, choices out.

import { differenceHref } from "./workloadfindings.js";

/** *chosen* after a person has ticked *one*, or unticked it: at most two, both of one measure. */
export function ticked(chosen, one) {
  const others = chosen.filter(({ id }) => id !== one.id);
  if (others.length < chosen.length) return others;
  return [...others.filter(({ measure }) => measure === one.measure).slice(-1), one];
}

/** Where the two are compared, the earlier one first; null while there are fewer. */
export function comparison(chosen) {
  if (chosen.length < 2) return null;
  return differenceHref(...[...chosen].sort((one, other) => one.at - other.at));
}
