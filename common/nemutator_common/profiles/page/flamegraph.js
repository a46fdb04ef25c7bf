"use strict";
// One file for the page of one profile. Names are a stranger's: they only ever become text.
{
  const profile = JSON.parse(document.getElementById("profile").textContent);
  const { depth, samples, strings } = profile;
  const count = depth.length;
  const total = samples[0];
  const ROW = 19;
  const PADDING = 4;

  // --- the tree, from its columns: a parent stands before its children ---------------------------
  const start = new Float64Array(count);
  const parent = new Int32Array(count).fill(-1);
  const own = Float64Array.from(samples);
  const path = [];
  const filled = new Float64Array(count);
  for (let box = 0; box < count; box++) {
    path.length = depth[box];
    if (path.length > 0) {
      const above = path[path.length - 1];
      parent[box] = above;
      start[box] = start[above] + filled[above];
      filled[above] += samples[box];
      own[above] -= samples[box];
    }
    path.push(box);
  }
  const deepest = depth.reduce((most, one) => Math.max(most, one), 0);
  const rows = Array.from({ length: deepest + 1 }, () => []);
  depth.forEach((row, box) => rows[row].push(box));

  const nameOf = (box) => strings[profile.name[box]];
  const isInlined = (box) => profile.kind[box] < 0;
  const kindOf = (box) => profile.kinds[isInlined(box) ? -1 - profile.kind[box] : profile.kind[box]];

  // --- words -------------------------------------------------------------------------------------
  const number = new Intl.NumberFormat("en");
  const share = (part) => (total ? `${((100 * part) / total).toFixed(2)} %` : "0 %");
  const seconds = (value) => `${value.toFixed(2)} s`;
  const mebibytes = (value) => `${(value / 2 ** 20).toFixed(2)} MiB`;
  const amount = (value) =>
    profile.unit === "bytes" ? mebibytes(value) : `${number.format(value)} samples`;

  function described(box) {
    const lines = [nameOf(box) + (isInlined(box) ? " (inlined)" : "")];
    const facts = [`${amount(samples[box])}, ${share(samples[box])}`];
    if (own[box] !== samples[box]) {
      facts.push(`${share(own[box])} its own`);
    }
    const file = strings[profile.file[box]];
    if (file) {
      facts.push(profile.line[box] ? `${file}:${profile.line[box]}` : file);
    }
    if (box > 0) {
      facts.push(kindOf(box));
    }
    lines.push(facts.join(" · "));
    return lines.join("\n");
  }

  function element(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  function fact(word, value) {
    const pair = document.createElement("div");
    pair.append(element("dt", word), element("dd", value));
    document.getElementById("facts").append(pair);
  }

  function cpu() {
    fact("for", seconds(profile.seconds));
    fact("rate", `${profile.hz} Hz`);
    fact("recorded", number.format(profile.recorded));
    const lost = Object.entries(profile.lost).filter(([, many]) => many > 0);
    const sum = lost.reduce((all, [, many]) => all + many, 0);
    const reasons = lost.map(([reason, many]) => `${reason} ${number.format(many)}`).join(", ");
    fact("lost", lost.length ? `${number.format(sum)} (${reasons})` : "0");
    fact("CPU time by samples", seconds(profile.sampledCpuSeconds));
    const counted = profile.cpuSeconds;
    fact("CPU time by the kernel", counted === null ? "not known" : seconds(counted));
  }

  function heap() {
    const { objects, bytes, objects_in_use, bytes_in_use } = profile.total;
    fact("in use", `${mebibytes(bytes_in_use)}, ${number.format(objects_in_use)} objects`);
    fact("allocated since the start", `${mebibytes(bytes)}, ${number.format(objects)} objects`);
    fact("recorded", `one byte of ${number.format(profile.rate)}`);
  }

  function head() {
    document.getElementById("title").textContent = profile.title;
    for (const [key, value] of Object.entries(profile.labels)) {
      fact(key, value);
    }
    fact("started", new Date(profile.startedAt * 1000).toISOString().replace(/\.\d+/, ""));
    if (profile.unit === "bytes") {
      heap();
    } else {
      cpu();
    }
    const notes = [...profile.notes];
    if (profile.leftOut) {
      notes.push(`${number.format(profile.leftOut)} boxes too small to be seen are left out.`);
    }
    document.getElementById("notes").append(...notes.map((note) => element("li", note)));
    const legend = document.getElementById("legend");
    for (const kind of profile.kinds) {
      const patch = document.createElement("i");
      patch.style.background = `hsl(${colour(`--${kind}`)})`;
      legend.append(patch, kind);
    }
  }

  function table() {
    const shares = new Map();
    for (let box = 1; box < count; box++) {
      const name = nameOf(box);
      const known = shares.get(name) ?? { flat: 0, all: 0 };
      shares.set(name, known);
      known.flat += own[box];
      let above = parent[box];
      while (above > 0 && nameOf(above) !== name) {
        above = parent[above];
      }
      if (above <= 0) {
        known.all += samples[box];
      }
    }
    const most = [...shares].sort(([, one], [, two]) => two.flat - one.flat).slice(0, 25);
    const body = document.querySelector("#functions tbody");
    for (const [name, { flat, all }] of most) {
      const row = document.createElement("tr");
      row.append(element("td", name), element("td", share(flat)), element("td", share(all)));
      body.append(row);
    }
  }

  // --- the picture -------------------------------------------------------------------------------
  const canvas = document.getElementById("graph");
  const pen = canvas.getContext("2d");
  const detail = document.getElementById("detail");
  let zoomed = 0;
  let chosen = 0;
  let found = null;

  function colour(variable) {
    return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
  }

  function shade(text) {
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = (hash * 31 + text.charCodeAt(at)) | 0;
    }
    return (Math.abs(hash) % 9) - 4;
  }
  const shades = strings.map(shade);

  // Of the last drawing: asked of the page for each box, they would cost more than the boxes.
  let width = 0;
  let letter = 7;
  let ink = "";
  let mark = "";
  let tones = {};

  function place(box) {
    const scale = samples[zoomed] ? width / samples[zoomed] : 0;
    const left = (start[box] - start[zoomed]) * scale;
    const right = left + samples[box] * scale;
    return [Math.max(left, 0), Math.min(right, width)];
  }

  function fit(text, width) {
    const letters = Math.floor((width - 2 * PADDING) / letter);
    if (letters < 3) {
      return "";
    }
    return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
  }
  function draw() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    const height = (deepest + 1) * ROW;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = "12px ui-monospace, monospace";
    pen.textBaseline = "middle";
    letter = pen.measureText("M").width;
    tones = Object.fromEntries(profile.kinds.map((kind) => [kind, colour(`--${kind}`).split(" ")]));
    ink = colour("--box-ink");
    mark = colour("--mark");
    for (const row of rows) {
      row.forEach(paint);
    }
  }

  function paint(box) {
    const [left, right] = place(box);
    if (right - left < 0.5) {
      return;
    }
    const top = depth[box] * ROW;
    const [hue, strength, light] = tones[kindOf(box)];
    const tone = parseFloat(light) + shades[profile.name[box]] + (isInlined(box) ? 6 : 0);
    const wide = Math.max(right - left - 0.5, 0.5);
    // It may be painted for a second time, and some let through what lies below.
    pen.clearRect(left, top, wide, ROW - 1);
    pen.globalAlpha = depth[box] < depth[zoomed] ? 0.55 : 1;
    pen.fillStyle = found?.has(box) ? mark : `hsl(${hue} ${strength} ${tone}%)`;
    pen.fillRect(left, top, wide, ROW - 1);
    if (box === chosen) {
      pen.strokeStyle = mark;
      pen.lineWidth = 2;
      pen.strokeRect(left + 1, top + 1, Math.max(right - left - 2.5, 1), ROW - 3);
    }
    const text = fit(nameOf(box), right - left);
    if (text) {
      pen.fillStyle = ink;
      pen.font = `${isInlined(box) ? "italic " : ""}12px ui-monospace, monospace`;
      pen.fillText(text, left + PADDING, top + ROW / 2);
    }
    pen.globalAlpha = 1;
  }

  function boxAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const row = Math.floor((event.clientY - bounds.top) / ROW);
    return (rows[row] ?? []).find((box) => {
      const [left, right] = place(box);
      return x >= left && x < right;
    });
  }

  /** Twenty thousand boxes take a tenth of a second to draw; two of them, nothing. */
  function choose(box) {
    const before = chosen;
    chosen = box;
    detail.textContent = described(box);
    paint(before);
    paint(box);
  }

  function zoom(box) {
    zoomed = box;
    chosen = box;
    detail.textContent = described(box);
    draw();
  }

  function neighbour(step) {
    const row = rows[depth[chosen]];
    return row[row.indexOf(chosen) + step];
  }

  function below() {
    const within = (rows[depth[chosen] + 1] ?? []).filter((box) => parent[box] === chosen);
    return within.reduce((most, box) => (samples[box] > samples[most] ? box : most), within[0]);
  }

  const moves = {
    ArrowUp: () => (parent[chosen] >= 0 ? parent[chosen] : undefined),
    ArrowDown: below,
    ArrowLeft: () => neighbour(-1),
    ArrowRight: () => neighbour(1),
  };

  canvas.addEventListener("keydown", (event) => {
    if (event.key in moves) {
      const box = moves[event.key]();
      if (box !== undefined) {
        choose(box);
      }
    } else if (event.key === "Enter") {
      zoom(chosen);
    } else if (event.key === "Escape") {
      zoom(0);
    } else {
      return;
    }
    event.preventDefault();
  });
  canvas.addEventListener("mousemove", (event) => {
    const box = boxAt(event);
    if (box !== undefined && box !== chosen) {
      choose(box);
    }
  });
  canvas.addEventListener("click", (event) => {
    const box = boxAt(event);
    if (box !== undefined) {
      zoom(box);
    }
  });

  // --- searching ---------------------------------------------------------------------------------
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    const matches = document.getElementById("matches");
    found = wanted ? new Set() : null;
    matches.textContent = "";
    if (wanted) {
      const hits = strings.map((text) => text.toLowerCase().includes(wanted));
      const covered = new Uint8Array(count);
      let sum = 0;
      for (let box = 1; box < count; box++) {
        const hit = hits[profile.name[box]];
        if (hit) {
          found.add(box);
        }
        // What lies below a match is in it already.
        if (hit && !covered[parent[box]]) {
          sum += samples[box];
        }
        covered[box] = hit || covered[parent[box]] ? 1 : 0;
      }
      const boxes = found.size === 1 ? "1 box" : `${number.format(found.size)} boxes`;
      matches.textContent = `${boxes}, ${amount(sum)}, ${share(sum)}`;
    }
    draw();
  });
  document.getElementById("reset").addEventListener("click", () => {
    search.value = "";
    search.dispatchEvent(new Event("input"));
    zoom(0);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      search.focus();
      event.preventDefault();
    }
  });

  head();
  table();
  new ResizeObserver(draw).observe(canvas.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  zoom(0);
}
