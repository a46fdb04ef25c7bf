// What was found of one workload: how it ages, its newest profile, and its neighbours. Pure.

import { percent, visible } from "./format.js";

const UNIT = /\.(service|scope|slice)$/;

/** Whether *profile* is of the workload that *row* names: in a cluster by both names, off clusters by its own. */
function isOf({ namespace, name }, profile) {
  const bare = name.replace(UNIT, "");
  return [`${namespace.replace(/\/$/, "")}/${name}`, name, bare].includes(profile.workload);
}

/** A person chooses among so many of them. */
const MOST_PROFILES = 30;

/** Its profiles that are made, the newest first. */
export const profilesOf = (profiles, row) =>
  (profiles?.items ?? [])
    .filter((one) => one.state === "done" && isOf(row, one))
    .sort((a, b) => b.asked_at - a.asked_at)
    .slice(0, MOST_PROFILES);

const measureOf = ({ measure }) => measure ?? "cpu";

/** Those that *one* can be compared with. */
export const others = (made, one) => made.filter((other) => other.id !== one.id && measureOf(other) === measureOf(one));

/** Which of *made* are shown: those that the address names, else the newest alone; null where there is none. */
export function chosenOf(made, { after, before } = {}) {
  const shown = made.find(({ id }) => id === after) ?? made[0] ?? null;
  const beside = shown == null ? [] : others(made, shown);
  return { after: shown, before: beside.find(({ id }) => id === before) ?? null };
}

export const flamegraphHref = ({ id }) => `/api/v1/profiles/${encodeURIComponent(id)}/flamegraph`;
export const differenceHref = (before, after) =>
  `/api/v1/profiles/${encodeURIComponent(before.id)}/difference/${encodeURIComponent(after.id)}`;
export const foldedPath = ({ id }) => `/api/v1/profiles/${encodeURIComponent(id)}/folded`;

const MEASURES = { heap: "memory in use", "off-cpu": "time off the CPU" };

/** What a profile is of, and when it was made. */
export const profileName = ({ measure, asked_at: at }, written) => `${MEASURES[measure] ?? "CPU time"}, ${written(at)}`;

/** The same, and where most of it is. */
export function profileWords(profile, busiest, written) {
  const most = busiest.map(({ name, share }) => `${percent(100 * share)} in ${visible(name)}`).join(", ");
  return `${profileName(profile, written)}${most ? `: ${most}` : ""}`;
}

const GRADES = { leak: "suffer", drift: "notice", "hot spot grew": "notice", steady: "calm" };

/** A line for each verdict on it. */
export function verdicts(ageing, { namespace, kind, name }) {
  return (ageing?.items ?? [])
    .filter(
      ({ workload: of }) =>
        of.owner === name && of.namespace === namespace && of.owner_kind.toLowerCase() === kind.toLowerCase(),
    )
    .map((one) => ({
      key: one.id,
      text: visible(one.sentence),
      grade: GRADES[one.verdict] ?? "none",
      href: one.sites.length > 0 ? `/api/v1/ageing/${encodeURIComponent(one.id)}/flamegraph` : null,
    }));
}

const HARM = ["calm", "none", "notice", "notice", "suffer"];

/** A line for each of its pods that suffers from others on its node, or makes them suffer. */
export function harms(neighbours, { namespace, kind, name }) {
  return (neighbours?.items ?? [])
    .filter((one) => one.owner === name && one.namespace === namespace && one.ownerKind.toLowerCase() === kind.toLowerCase())
    .flatMap((one) => [one.victim, one.aggressor].map((harm, place) => ({ harm, key: `${one.uid}\n${place}` })))
    .filter(({ harm }) => harm.why)
    .map(({ harm, key }) => ({ key, text: visible(harm.why), grade: HARM[harm.now ?? harm.usual ?? 0], href: null }));
}

/** How long it had to wait in the last ten seconds, beside how often it is throttled; empty where nobody tells. */
export function pressure(waiting) {
  const words = ["cpu", "memory", "io"]
    .filter((what) => waiting?.[what] > 0)
    .map((what) => `${percent(waiting[what])} for ${{ cpu: "CPU", memory: "memory", io: "disks" }[what]}`);
  return words.length > 0 ? `waits ${words.join(", ")}` : "";
}
