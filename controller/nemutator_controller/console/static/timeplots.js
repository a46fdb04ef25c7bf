// Plots of the same time: a moment that is read in one is read in all, and so is a part of time that is shown.

import { attribute, hide, keyed, text } from "./dom.js";
import { UNKNOWN } from "./format.js";
import { clipped, nearest, scaled, within } from "./timerange.js";
import { UPlotChart } from "./uplotchart.js";

const CLOSER = 0.5;
const ZOOMS = { "+": CLOSER, "=": CLOSER, "-": 1 / CLOSER, 0: Infinity };

const MARKS = { deployed: "new version", changed: "changed", busy: "busy season of the day, as foretold now" };

export class TimePlots {
  /** By element: what it shows, and the chart in it. */
  #shown = new Map();
  /** The moment that a person chose, and the one below the pointer; null for none. */
  #chosen = null;
  #pointed = null;
  /** The part of time that is shown; null for all of it. */
  #range = null;
  #sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) this.#shown.get(target.parentElement)?.chart.resize(Math.floor(contentRect.width));
  });

  constructor() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const { chart } of this.#shown.values()) chart.recolour();
    });
  }

  /** Whether not all of the time is shown. */
  get isZoomed() {
    return this.#range != null;
  }

  /** Show each plot in its element, and in no other. */
  show(plotOf) {
    for (const [element, { chart }] of this.#shown) {
      if (plotOf.has(element)) continue;
      this.#sizes.unobserve(element.querySelector(".chart"));
      chart.destroy();
      this.#shown.delete(element);
    }
    const [whole] = plotOf.values();
    this.#range = whole == null ? null : clipped(this.#range, whole);
    for (const [element, plot] of plotOf) this.#draw(element, plot);
    this.#say();
  }

  /** Forget what a person chose, because something else is shown. */
  reset() {
    this.#chosen = null;
    this.#pointed = null;
    this.#range = null;
  }

  /** Show less of the time, or more of it, around the moment that is read. */
  zoom(factor) {
    const [{ plot } = {}] = this.#shown.values();
    if (plot == null) return;
    const around = this.#moment() ?? (this.#range ?? [plot.from, plot.to])[1];
    this.#zoomTo(scaled(this.#range, around, factor, plot));
  }

  #moment() {
    return this.#pointed ?? this.#chosen;
  }

  #draw(element, plot) {
    const range = this.#range ?? [plot.from, plot.to];
    const before = this.#shown.get(element);
    const place = element.querySelector(".chart");
    let chart = before?.chart;
    if (chart?.fits(plot)) chart.show(plot, range);
    else {
      chart?.destroy();
      chart = new UPlotChart(place, plot, range, this.#heard());
      if (before == null) this.#listen(element, place);
    }
    const hidden = before?.hidden ?? new Set();
    for (const name of hidden) chart.toggle(name, false);
    this.#shown.set(element, { plot, chart, hidden });
    attribute(place, "aria-label", `${plot.title}: ${plot.words}`);
  }

  #listen(element, place) {
    this.#sizes.observe(place);
    const slider = element.querySelector("input");
    slider.oninput = () => {
      const { plot } = this.#shown.get(element);
      this.#choose(plot.moments[Number(slider.value)]);
    };
    slider.onkeydown = (event) => {
      if (!Object.hasOwn(ZOOMS, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.zoom(ZOOMS[event.key]);
    };
  }

  /** What a person does in a chart. */
  #heard() {
    return {
      pointed: (at) => this.#point(at),
      left: () => this.#point(null),
      chosen: (at) => this.#choose(at),
      zoomed: (range) => this.#zoomTo(range),
    };
  }

  /** A pointer moves far more often than from one step to another. */
  #point(at) {
    const [{ plot } = {}] = this.#shown.values();
    if (plot == null) return;
    const moment = at == null ? null : plot.moments[nearest(plot.moments, at)];
    if (moment === this.#pointed) return;
    this.#pointed = moment;
    this.#say();
  }

  #choose(at) {
    const [{ plot } = {}] = this.#shown.values();
    if (plot == null) return;
    // Who reads the newest moment goes on reading the newest.
    const last = plot.moments.length - 1;
    this.#chosen = nearest(plot.moments, at) === last ? null : at;
    this.#say();
  }

  #zoomTo(range) {
    const [{ plot } = {}] = this.#shown.values();
    if (plot == null) return;
    this.#range = clipped(range, plot);
    for (const shown of this.#shown.values()) shown.chart.show(shown.plot, this.#range ?? [plot.from, plot.to]);
    this.#say();
    this.onZoom?.();
  }

  /** Write at each plot what was at the moment that is read. */
  #say() {
    const moment = this.#moment();
    for (const [element, { plot, chart, hidden }] of this.#shown) {
      const slider = element.querySelector("input");
      const [first, last] = within(plot.moments, this.#range ?? [plot.from, plot.to]);
      const index = moment == null ? last : Math.min(last, Math.max(first, nearest(plot.moments, moment)));
      chart.point(moment == null ? null : plot.moments[index]);
      attribute(slider, "min", first);
      attribute(slider, "max", last);
      slider.value = String(index);
      const { short, full } = plot.tell(index, moment != null);
      attribute(slider, "aria-valuetext", full);
      text(element.querySelector(".moment"), short);
      showLegend(element.querySelector(".legend"), { plot, chart, hidden }, index);
    }
  }
}

/** What is drawn, with its value at the place *index*; each layer can be left out. */
function showLegend(list, { plot, chart, hidden }, index) {
  if (list == null) return;
  const marks = Object.keys(MARKS).filter((name) => plot.marks[name].length > 0);
  keyed(
    list,
    [...plot.layers.toReversed(), ...marks.map((name) => ({ name, label: MARKS[name], values: null }))].map((one) => ({ key: one.name, ...one })),
    ({ name, values }) => {
      const [line, mark, label, value] = ["li", "i", values == null ? "span" : "button", "b"].map((tag) => document.createElement(tag));
      mark.className = name;
      line.append(mark, label, " ", value);
      if (values == null) return line;
      label.type = "button";
      return line;
    },
    (line, { name, label, values, below }) => {
      const [, called, value] = line.children;
      text(called, label);
      hide(value, values == null);
      if (values == null) return;
      text(value, valueAt(plot, values[index], below?.[index]));
      attribute(called, "aria-pressed", !hidden.has(name));
      called.onclick = () => {
        if (!hidden.delete(name)) hidden.add(name);
        chart.toggle(name, !hidden.has(name));
        attribute(called, "aria-pressed", !hidden.has(name));
      };
    },
  );
}

function valueAt({ say, brief }, value, low) {
  if (value == null || low === null) return UNKNOWN;
  return low === undefined ? say(value) : `${brief(low)} to ${say(value)}`;
}
