// What is wasted, as money. Pure.

import { bytes, cores } from "./format.js";

const HOURS_OF_A_MONTH = 730;

/** What *waste* costs a month, in words; empty where nobody has told what a core costs. */
export function cost(waste, prices) {
  if (prices == null) return "";
  const gib = (waste.memory_bytes ?? 0) / 2 ** 30;
  const sum = HOURS_OF_A_MONTH * ((waste.cpu_cores ?? 0) * prices.core_hour + gib * prices.gib_hour);
  const digits = { minimumFractionDigits: sum < 100 ? 2 : 0, maximumFractionDigits: sum < 100 ? 2 : 0 };
  return `${sum.toLocaleString("en", digits)} ${prices.currency}`.trim() + " a month";
}

/** What all workloads of *document* waste, in a sentence; empty where they waste nothing. */
export function wastedByAll({ totals, prices }) {
  const waste = totals?.waste;
  if (!(waste?.cpu_cores > 0 || waste?.memory_bytes > 0)) return "";
  const money = cost(waste, prices);
  return `All together waste ${cores(waste.cpu_cores)} cores and ${bytes(waste.memory_bytes)}${money ? `: ${money}` : ""}.`;
}
