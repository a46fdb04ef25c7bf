// --- pictures: a tree on a canvas -------------------------------------------------------------------
const ROW = 19;
const PADDING = 4;

function hash(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    sum = (sum * 31 + text.charCodeAt(at)) | 0;
  }
  return Math.abs(sum);
}
const shades = strings.map((text) => (hash(text) % 9) - 4);
const hues = strings.map((text) => hash(packageOf(text)) % 360);

/** What the colour of a box stands for: "kind", "package" or "change". */
const view = { colours: isDifference ? "change" : "kind", upwards: false, found: null };

/** Blue for less and orange for more differ for every eye; how strong says how much. */
function tone(tree, box, palette) {
  if (view.colours === "change" && tree.before) {
    const more = tree.samples[box] - 2 * tree.before[box];
    const strength = tree.samples[box] ? Math.abs(more) / tree.samples[box] : 0;
    if (strength < 0.02) {
      return palette.unknown;
    }
    const [hue, full, light] = more > 0 ? palette.more : palette.less;
    return [hue, full, `${parseFloat(light) + (1 - strength) * 18}%`];
  }
  if (view.colours === "package") {
    const [, strength, light] = palette.go;
    return [hues[tree.name[box]], strength, light];
  }
  const [hue, strength, light] = palette[tree.kindOf(box)];
  const lighter = shades[tree.name[box]] + (tree.isInlined(box) ? 6 : 0);
  return [hue, strength, `${parseFloat(light) + lighter}%`];
}

/**
 * A tree that is shown on `canvas` and described in `detail`. `upwards()` says whether it grows up;
 * `opened` is called with the function for whose callers and callees somebody asks.
 */
function picture(canvas, detail, upwards, opened) {
  const pen = canvas.getContext("2d");
  let tree = null;
  let zoomed = 0;
  let chosen = 0;
  // Of the last drawing: asked of the page for each box, they would cost more than the boxes.
  let width = 0;
  let letter = 7;
  let ink = "";
  let mark = "";
  let palette = {};

  function described(box) {
    const total = tree.samples[0];
    const lines = [tree.nameOf(box) + (tree.isInlined(box) ? " (inlined)" : "")];
    const facts = [];
    if (tree.before) {
      const before = tree.before[box];
      const after = tree.samples[box] - before;
      facts.push(`before ${amount(before)}, after ${amount(after)}, ${signed(after - before)}`);
    } else {
      facts.push(`${amount(tree.samples[box])}, ${share(tree.samples[box], total)}`);
      if (tree.own[box] !== tree.samples[box]) {
        facts.push(`${share(tree.own[box], total)} its own`);
      }
    }
    const file = strings[tree.file[box]];
    if (file) {
      facts.push(tree.line[box] ? `${file}:${tree.line[box]}` : file);
    }
    if (tree.depth[box] > 0) {
      facts.push(tree.kindOf(box));
    }
    lines.push(facts.join(" · "));
    return lines.join("\n");
  }

  function place(box) {
    const scale = tree.samples[zoomed] ? width / tree.samples[zoomed] : 0;
    const left = (tree.start[box] - tree.start[zoomed]) * scale;
    const right = left + tree.samples[box] * scale;
    return [Math.max(left, 0), Math.min(right, width)];
  }

  const rowOf = (depth) => (upwards() ? tree.rows.length - 1 - depth : depth);

  function fit(text, room) {
    const letters = Math.floor((room - 2 * PADDING) / letter);
    if (letters < 3) {
      return "";
    }
    return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
  }

  function paint(box, again) {
    const [left, right] = place(box);
    if (right - left < 0.5) {
      return;
    }
    const top = rowOf(tree.depth[box]) * ROW;
    const [hue, strength, light] = tone(tree, box, palette);
    const wide = Math.max(right - left - 0.5, 0.5);
    if (again) {
      // Some let through what lies below.
      pen.clearRect(left, top, wide, ROW - 1);
    }
    pen.globalAlpha = tree.depth[box] < tree.depth[zoomed] ? 0.55 : 1;
    const marked = view.found?.has(tree.name[box]);
    pen.fillStyle = marked ? mark : `hsl(${hue} ${strength} ${light})`;
    pen.fillRect(left, top, wide, ROW - 1);
    if (box === chosen) {
      pen.strokeStyle = mark;
      pen.lineWidth = 2;
      pen.strokeRect(left + 1, top + 1, Math.max(right - left - 2.5, 1), ROW - 3);
    }
    const text = fit(tree.nameOf(box), right - left);
    if (text) {
      pen.fillStyle = ink;
      pen.font = `${tree.isInlined(box) ? "italic " : ""}12px ui-monospace, monospace`;
      pen.fillText(text, left + PADDING, top + ROW / 2);
    }
    pen.globalAlpha = 1;
  }

  function draw() {
    if (!tree) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    const height = tree.rows.length * ROW;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.font = "12px ui-monospace, monospace";
    pen.textBaseline = "middle";
    letter = pen.measureText("M").width;
    const tones = [...profile.kinds, "more", "less"];
    palette = Object.fromEntries(tones.map((one) => [one, colour(`--${one}`).split(" ")]));
    ink = colour("--box-ink");
    mark = colour("--mark");
    for (const row of tree.rows) {
      for (const box of row) {
        paint(box, false);
      }
    }
  }

  /** Twenty thousand boxes take a tenth of a second to draw; two of them, nothing. */
  function choose(box) {
    const before = chosen;
    chosen = box;
    detail.textContent = described(box);
    paint(before, true);
    paint(box, true);
  }

  function zoom(box) {
    zoomed = box;
    chosen = box;
    detail.textContent = described(box);
    draw();
  }

  function boxAt(event) {
    const bounds = canvas.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const row = rowOf(Math.floor((event.clientY - bounds.top) / ROW));
    return (tree.rows[row] ?? []).find((box) => {
      const [left, right] = place(box);
      return x >= left && x < right;
    });
  }

  function neighbour(by) {
    const row = tree.rows[tree.depth[chosen]];
    return row[row.indexOf(chosen) + by];
  }

  function below() {
    const row = tree.rows[tree.depth[chosen] + 1] ?? [];
    const within = row.filter((box) => tree.parent[box] === chosen);
    return within.reduce((most, box) => (tree.samples[box] > tree.samples[most] ? box : most), within[0]);
  }

  const above = () => (tree.parent[chosen] >= 0 ? tree.parent[chosen] : undefined);
  const moves = {
    ArrowUp: () => (upwards() ? below() : above()),
    ArrowDown: () => (upwards() ? above() : below()),
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
    } else if (event.key === "s") {
      opened(tree.name[chosen]);
    } else {
      return;
    }
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
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
  // What stands below may change its height: the picture is as wide as before, and need not be drawn anew.
  const resized = () => canvas.clientWidth !== width && draw();
  new ResizeObserver(resized).observe(canvas.parentElement);

  return {
    draw,
    zoom,
    show(shown) {
      tree = shown;
      zoom(0);
    },
  };
}
