// What stands beside a workload's use: when it was changed, when it is busy, and how it is. Pure.

import { place } from "./cells.js";
import { counted, percent, visible } from "./format.js";
import { pressure } from "./workloadfindings.js";

/** Lines below the plots: more are in the list of mutations. */
export const MOST = 10;

/** Changes of the workload, or of its pods, in the time of *document*: the newest first. */
export function changes(mutations, { from_at: from, step_s: step, steps }) {
  return (mutations?.items ?? [])
    .filter(({ at, mode }) => mode === "apply" && at >= from && at < from + steps * step)
    .map(({ id, at, state, subject, edits }) => {
      const policies = [...new Set(edits.map((edit) => edit.policy))].filter(Boolean).join(", ");
      const object = `${subject.kind} ${place(subject.namespace, subject.name || `${subject.generate_name}…`)}`;
      const end = state === "reversed" ? ", and taken back since" : "";
      const fields = edits.map((edit) => edit.path).join("\n");
      const what = `${object}: ${counted(edits.length, "field")}${policies ? ` by ${policies}` : ""}${end}`;
      return {
        key: id,
        at,
        text: visible(what),
        title: visible(fields),
        step: Math.floor((at - from) / step),
        edits,
        rollback: state === "reversed" ? null : { id, object },
      };
    })
    .sort((a, b) => b.at - a.at);
}

/** The steps of *document* in which the workload got a new version. */
export const deployed = (deploys, { from_at: from, step_s: step, steps }) =>
  (deploys?.items ?? [])
    .filter(({ at }) => at >= from && at < from + steps * step)
    .map(({ at }) => Math.floor((at - from) / step));

const BUSY = new Set(["pre-peak", "peak"]);

/**
 * For each step of *document*, whether this workload is busy at that time of the day, as its day is foretold now;
 * null where nothing is foretold.
 */
export function busy(seasons, item, { from_at: from, step_s: step, steps }) {
  const spans = (item?.spans ?? []).filter(({ season }) => BUSY.has(season)).map(minutesOf);
  const calendar = seasons?.calendar;
  if (calendar == null || calendar.compressed || spans.length === 0 || spans.includes(null)) return null;
  const minute = clock(calendar.zone);
  if (minute == null || step > 21600) return null;
  return Array.from({ length: steps }, (_, index) => {
    const now = minute(from + (index + 0.5) * step);
    return spans.some(([begin, end]) => (begin < end ? now >= begin && now < end : now >= begin || now < end));
  });
}

function minutesOf({ begin, end }) {
  const [, hour, minute, toHour, toMinute] = /^(\d\d):(\d\d) (\d\d):(\d\d)$/.exec(`${begin} ${end}`) ?? [];
  return hour === undefined ? null : [60 * hour + Number(minute), 60 * toHour + Number(toMinute)];
}

/** The minute of the day in *zone* of a moment; null for a zone that this browser does not know. */
function clock(zone) {
  let format;
  try {
    format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  } catch {
    return null;
  }
  return (at) => {
    const [hour, minute] = format.format(new Date(1000 * at)).split(":");
    return 60 * hour + Number(minute);
  };
}

/** The season of *row* among those that the brain knows. */
export const seasonOf = (seasons, row) =>
  (seasons?.items ?? []).find((one) => one.kind === row.kind && one.name === row.name) ?? null;

/** How the workload is now, in a few words; empty where nobody tells. */
export function state(item, season) {
  const words = [];
  if (item != null) {
    const { pods, ready } = item.replicas;
    if (pods > 0) words.push(`${ready} of ${counted(pods, "pod")} ready`);
    if (item.restarts > 0) words.push(counted(item.restarts, "restart"));
    if (item.oom_ended > 0) words.push(`${counted(item.oom_ended, "container")} ended for memory`);
    if (item.throttled > 0) words.push(`throttled in ${percent(100 * item.throttled)} of periods`);
    words.push(pressure(item.waiting));
  }
  if (season != null) words.push(`season: ${visible(season.season)}`);
  return words.filter(Boolean).join(" · ");
}
