// The upper part of the page: the machine, its readings and their last hour.

import { attribute, byId, hide, text, width } from "./dom.js";
import { UNKNOWN, bytes, cores, counted, percent, span, visible } from "./format.js";
import { lastHour } from "./history.js";
import { TimePlots } from "./timeplots.js";

const PRESSURES = { cpu: "CPU", memory: "memory", io: "disk" };

/** Percent of waiting: below the first it is noise, from the second on work suffers. No alarms. */
const NOTICE = 10;
const SUFFER = 40;

export function showMachine(node) {
  const machine = node.machine;
  text(byId("machine-name"), visible(node.name));
  text(byId("system"), visible(machine.system));
  text(byId("kernel"), `kernel ${visible(machine.kernel)}`);
  text(byId("cpus"), counted(machine.cpus, "CPU"));
  text(byId("load"), `load ${machine.load_1m.toFixed(2)}`);
  attribute(byId("load"), "title", "tasks that run or wait to, averaged over one minute");

  const { disk_read, disk_written, network_received, network_sent } = machine.throughput;
  text(byId("disks"), `disks ${bytes(disk_read)}/s read, ${bytes(disk_written)}/s written`);
  text(
    byId("network"),
    `network ${bytes(network_received)}/s received, ${bytes(network_sent)}/s sent`,
  );

  const part = machine.cpu_cores == null ? null : machine.cpu_cores / machine.cpus;
  text(byId("cpu"), machine.cpu_cores == null ? UNKNOWN : machine.cpu_cores.toFixed(2));
  const share = part == null ? "" : ` · ${percent(100 * part)}`;
  text(byId("cpu-of"), `of ${counted(machine.cpus, "core")}${share}`);
  attribute(byId("cpu"), "title", machine.cpu_cores == null ? NO_RATE_YET : null);
  meter(byId("cpu-meter"), machine.cpu_cores, machine.cpus, `${cores(machine.cpu_cores)} cores`);

  const used = machine.memory_used_bytes;
  text(byId("memory"), bytes(used));
  const swap = machine.swap_used_bytes > 0 ? ` · swap ${bytes(machine.swap_used_bytes)}` : "";
  text(
    byId("memory-of"),
    `of ${bytes(machine.memory_bytes)} · ${percent((100 * used) / machine.memory_bytes)}${swap}`,
  );
  attribute(byId("memory"), "title", memoryMeans(machine.memory_available_bytes));
  meter(byId("memory-meter"), used, machine.memory_bytes, bytes(used));

  for (const [resource, name] of Object.entries(PRESSURES)) {
    showPressure(byId(`pressure-${resource}`), name, machine.pressures[resource]);
  }
}

function memoryMeans(available) {
  const had = available == null ? "" : `; ${bytes(available)} could be had without swapping`;
  return `in use, with the page cache that was touched lately, as kubelet counts it${had}`;
}

export const NO_RATE_YET = "not known: a rate needs two snapshots, so the first report has none";

function showPressure(value, name, pressure) {
  const some = pressure?.some_10s ?? null;
  text(value, percent(some));
  const full =
    pressure?.full_10s == null ? "" : `; ${percent(pressure.full_10s)} of it, all work at once`;
  attribute(
    value,
    "title",
    some == null
      ? `not known: the kernel does not report the pressure (PSI) on ${name}`
      : `some work waited for ${name} ${percent(some)} of the last 10 s${full}; ` +
          `${percent(pressure.some_60s)} of the last minute`,
  );
  const bar = value.parentElement.querySelector(".meter");
  meter(bar, some, 100, percent(some));
  const grade = some >= SUFFER ? "suffer" : some >= NOTICE ? "notice" : "calm";
  attribute(bar, "data-grade", grade);
}

function meter(element, value, most, shown) {
  width(element.firstElementChild, value == null ? 0 : value / most);
  attribute(element, "aria-valuemax", most);
  attribute(element, "aria-valuenow", value ?? 0);
  attribute(element, "aria-valuetext", value == null ? "not known" : shown);
}

const charts = new TimePlots();

export function showHistory(points) {
  const plots = lastHour(points);
  for (const element of [byId("cpu-plot"), byId("memory-plot")]) {
    const [chart, slider, caption] = element.children;
    for (const part of [chart, slider]) hide(part, plots.length === 0);
    if (plots.length === 0) text(caption, "history begins now");
  }
  charts.show(new Map(plots.map((plot) => [byId(`${plot.key}-plot`), plot])));
  showWhole();
}

const showWhole = () => hide(byId("machine-whole"), !charts.isZoomed);

/** Forget which moment was read, because another node is shown. */
export const resetHistory = () => charts.reset();

export function listenToHistory() {
  charts.onZoom = showWhole;
  byId("machine-whole").addEventListener("click", () => charts.zoom(Infinity));
}

export function showBlindSpots(missing) {
  const link = byId("blind");
  hide(link, missing.length === 0);
  text(link, `${counted(missing.length, "fact")} cannot be seen`);
  hide(byId("missing"), missing.length === 0);
}
