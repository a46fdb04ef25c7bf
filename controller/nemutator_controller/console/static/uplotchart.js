// One plot of time as uPlot draws it: lines, bands and marks. Whoever shows it speaks of moments and of parts of time.

import { runs } from "./plots.js";
import { timeLabels } from "./timerange.js";

/** How each layer is drawn; the colours are the page's own. */
const STYLES = {
  usual: { colour: "--calm", filled: 25, width: 0 },
  range: { colour: "--cpu", filled: 25, width: 0 },
  request: { colour: "--notice" },
  advised: { colour: "--accent", dash: [8, 3] },
  limit: { colour: "--suffer" },
  most: { colour: "--memory", dash: [3, 3] },
  mean: { colour: "--cpu" },
  used: { colour: "--colour", filled: 14 },
};
const WIDTH = 1.5;
const BUSY = { colour: "--notice", filled: 14 };
const MARKS = { deployed: { colour: "--accent", dash: [] }, changed: { colour: "--ink", dash: [1, 3] } };

/** Steps between two lines of an axis of bytes. */
const POWERS_OF_TWO = Array.from({ length: 54 }, (_, exponent) => 2 ** exponent);

const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const LETTER = 6.6;

export const HEIGHT = 168;
export const BARE_HEIGHT = 64;

/** Seconds of time at the edges and the value, as places on the canvas. */
const placed = (u) => [(at) => u.valToPos(at, "x", true), (value) => u.valToPos(value, "y", true)];

/** Steps as wide as they last, so that what one step says is seen, too; *down* closes them to a band. */
function steps(u, values, { step, moments }, below) {
  const [x, y] = placed(u);
  const path = new Path2D();
  for (const run of runs(values.map((value, index) => (below?.[index] === null ? null : value)))) {
    const of = run.values.map((value, place) => ({ value, index: run.first + place }));
    of.forEach(({ value, index }, place) => {
      path[place === 0 ? "moveTo" : "lineTo"](x(moments[index] - step / 2), y(value));
      path.lineTo(x(moments[index] + step / 2), y(value));
    });
    if (below == null) continue;
    for (const { index } of of.reverse()) {
      path.lineTo(x(moments[index] + step / 2), y(below[index]));
      path.lineTo(x(moments[index] - step / 2), y(below[index]));
    }
    path.closePath();
  }
  return path;
}

/** Points joined by lines, and what is below them. */
function joined(u, values, { moments }) {
  const [x, y] = placed(u);
  const [stroke, fill] = [new Path2D(), new Path2D()];
  for (const { first, values: of } of runs(values)) {
    const last = first + of.length - 1;
    fill.moveTo(x(moments[first]), y(0));
    of.forEach((value, place) => {
      stroke[place === 0 ? "moveTo" : "lineTo"](x(moments[first + place]), y(value));
      fill.lineTo(x(moments[first + place]), y(value));
    });
    // A moment without neighbours is a point.
    if (first === last) stroke.lineTo(x(moments[first]) + 1, y(of[0]));
    fill.lineTo(x(moments[last]), y(0));
  }
  return { stroke, fill };
}

export class UPlotChart {
  #host;
  #plot;
  #range;
  #u;
  #told;
  /** What was drawn last, so that nothing is drawn twice, and the colours, which cost a calculation of styles each. */
  #drawn = "";
  #colours = new Map();

  /** *told* hears what a person does: `pointed(moment)`, `left()`, `chosen(moment)`, `zoomed(range)`. */
  constructor(host, plot, range, told) {
    this.#host = host;
    this.#plot = plot;
    this.#range = range;
    this.#told = told;
    this.#u = new globalThis.uPlot(this.#options(), this.#data(), host);
    this.#u.over.addEventListener("click", () => told.chosen(this.#u.posToVal(this.#u.cursor.left, "x")));
  }

  /** Whether *plot* can be shown without making another chart. */
  fits(plot) {
    return plot.layers.map(({ name }) => name).join() === this.#plot.layers.map(({ name }) => name).join();
  }

  show(plot, range) {
    const drawn = JSON.stringify([range, plot.moments, plot.layers, plot.marks]);
    this.#plot = plot;
    this.#range = range;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#u.batch(() => {
      this.#u.setData(this.#data(), false);
      this.#u.setScale("x", { min: range[0], max: range[1] });
    });
  }

  /** Draw a line at *moment*; none for null. */
  point(moment) {
    const left = moment == null ? -10 : this.#u.valToPos(moment, "x");
    const seen = left >= 0 && left <= this.#u.bbox.width / globalThis.devicePixelRatio;
    this.#u.setCursor({ left: seen ? left : -10, top: seen ? 0 : -10 }, false, false);
  }

  /** Show the layer called *name*, or do not. */
  toggle(name, shown) {
    const index = 1 + this.#plot.layers.findIndex((layer) => layer.name === name);
    if (index > 0 && this.#u.series[index].show !== shown) this.#u.setSeries(index, { show: shown });
  }

  resize(width) {
    if (width > 0 && width !== this.#u.width) this.#u.setSize({ width, height: this.#u.height });
  }

  /** Draw it anew, in colours that may be others. */
  recolour() {
    this.#colours.clear();
    this.#u.redraw(true, true);
  }

  destroy() {
    this.#u.destroy();
  }

  #data() {
    return [this.#plot.moments, ...this.#plot.layers.map(({ values }) => values)];
  }

  #colour({ colour, filled }) {
    if (!this.#colours.has(colour)) this.#colours.set(colour, getComputedStyle(this.#host).getPropertyValue(colour).trim());
    const value = this.#colours.get(colour);
    return filled == null ? value : `color-mix(in srgb, ${value} ${filled}%, transparent)`;
  }

  #options() {
    const { bare = false } = this.#plot;
    const [min, max] = this.#range;
    return {
      width: Math.max(1, Math.floor(this.#host.clientWidth)),
      height: bare ? BARE_HEIGHT : HEIGHT,
      padding: bare ? [2, 0, 0, 0] : [8, 8, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: true, min, max, range: (_, from, to) => [from, to] },
        y: { range: (_, __, top) => [0, 1.05 * top || 1] },
      },
      series: [{}, ...this.#plot.layers.map((layer, place) => this.#series(layer, place))],
      axes: bare ? [{ show: false }, { show: false }] : this.#axes(),
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, dist: 6, setScale: false },
        bind: { dblclick: () => () => this.#told.zoomed(null) },
      },
      hooks: {
        drawClear: [(u) => this.#drawBusy(u)],
        draw: [(u) => this.#drawMarks(u)],
        setCursor: [(u) => this.#follow(u)],
        setSelect: [(u) => this.#select(u)],
      },
    };
  }

  #series({ name }, place) {
    const { colour, filled, dash, width = WIDTH } = STYLES[name];
    return {
      width,
      dash,
      stroke: width > 0 ? () => this.#colour({ colour }) : undefined,
      fill: filled == null ? undefined : () => this.#colour({ colour, filled }),
      points: { show: false },
      paths: (u) => {
        const { values, below } = this.#plot.layers[place];
        if (this.#plot.step == null) return { ...joined(u, values, this.#plot), flags: 0 };
        const path = steps(u, values, this.#plot, below);
        return below == null ? { stroke: path, fill: null, flags: 0 } : { stroke: null, fill: path, flags: 0 };
      },
    };
  }

  #axes() {
    const line = { stroke: () => this.#colour({ colour: "--soft" }), font: FONT, ticks: { show: false } };
    const grid = { stroke: () => this.#colour({ colour: "--edge" }), width: 1 };
    return [
      { ...line, grid: { show: false }, size: 24, gap: 4, space: 64, values: (_, at, __, ___, apart) => timeLabels(at, apart) },
      {
        ...line,
        grid,
        gap: 4,
        space: 30,
        size: (_, labels) => 10 + LETTER * Math.max(4, ...(labels ?? []).map((label) => label.length)),
        values: (_, values) => values.map(this.#plot.brief),
        ...(this.#plot.binary ? { incrs: POWERS_OF_TWO } : {}),
      },
    ];
  }

  #drawBusy(u) {
    const { left, top, width, height } = u.bbox;
    const [x] = placed(u);
    u.ctx.save();
    u.ctx.fillStyle = this.#colour(BUSY);
    for (const [from, to] of this.#plot.marks.busy) {
      const [begin, end] = [Math.max(left, x(from)), Math.min(left + width, x(to))];
      if (end > begin) u.ctx.fillRect(begin, top, end - begin, height);
    }
    u.ctx.restore();
  }

  #drawMarks(u) {
    const { left, top, width, height } = u.bbox;
    const [x] = placed(u);
    u.ctx.save();
    u.ctx.lineWidth = 2 * globalThis.devicePixelRatio;
    for (const [name, { dash, ...style }] of Object.entries(MARKS)) {
      u.ctx.strokeStyle = this.#colour(style);
      u.ctx.setLineDash(dash.map((length) => length * globalThis.devicePixelRatio));
      u.ctx.beginPath();
      for (const at of this.#plot.marks[name].map(x).filter((at) => at >= left && at <= left + width)) {
        u.ctx.moveTo(at, top);
        u.ctx.lineTo(at, top + height);
      }
      u.ctx.stroke();
    }
    u.ctx.restore();
  }

  /** uPlot says this of a person's pointer, and after each drawing of what it follows. */
  #follow(u) {
    const { event, left } = u.cursor;
    if (event?.type === "mouseleave") this.#told.left();
    else if (event?.type.startsWith("mouse") && left >= 0) this.#told.pointed(u.posToVal(left, "x"));
  }

  #select(u) {
    const { left, width } = u.select;
    if (width === 0) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#told.zoomed([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
  }
}
