// --- the page: what is above the picture, and who hears of what ---------------------------------------
const whole = grown(profile);

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

function difference() {
  const { names, sums, scale, scaledTo } = profile.difference;
  fact("before", `${names[0]}: ${amount(sums[0])}`);
  fact("after", `${names[1]}: ${amount(sums[1])}`);
  fact("change", `${signed(sums[1] - sums[0])}`);
  if (scaledTo) {
    fact("what was before is multiplied by", `${scale.toFixed(3)}, to ${scaledTo}`);
  }
  fact("a box is as wide as", "both together, so that what is gone is seen, too");
}

function head() {
  document.getElementById("title").textContent = profile.title;
  for (const [key, value] of Object.entries(profile.labels)) {
    fact(key, value);
  }
  if (profile.startedAt) {
    fact("started", new Date(profile.startedAt * 1000).toISOString().replace(/\.\d+/, ""));
  }
  if (isDifference) {
    difference();
  } else if (profile.hz) {
    cpu();
  } else if (profile.total) {
    heap();
  } else {
    fact("in all", amount(whole.samples[0]));
  }
  const notes = [...profile.notes];
  if (profile.leftOut) {
    notes.push(`${number.format(profile.leftOut)} boxes too small to be seen are left out.`);
  }
  document.getElementById("notes").append(...notes.map((note) => element("li", note)));
}

function legend() {
  const words = { change: { more: "more", less: "less", unknown: "as before" }, package: {} };
  const kinds = Object.fromEntries(profile.kinds.map((kind) => [kind, kind]));
  const shown = Object.entries(words[view.colours] ?? kinds).flatMap(([tone, word]) => {
    const patch = element("i");
    patch.style.background = `hsl(${colour(`--${tone}`)})`;
    return [patch, word];
  });
  document.getElementById("legend").replaceChildren(...shown);
}

const byId = (id) => document.getElementById(id);
const graph = picture(byId("graph"), byId("detail"), () => view.upwards, showAround);
// Callers stand on the function that they called, and what it called hangs below it.
const above = picture(byId("callers"), byId("detail-of-callers"), () => true, showAround);
const below = picture(byId("callees"), byId("detail-of-callees"), () => false, showAround);
const list = table(whole, showAround);

function showAround(name) {
  const section = byId("around");
  const known = outermost(whole, name).length > 0;
  section.hidden = !known;
  if (known) {
    byId("function").textContent = strings[name];
    above.show(callers(whole, name));
    below.show(callees(whole, name));
    section.scrollIntoView({ block: "nearest" });
    byId("close").focus({ preventScroll: true });
  }
}

function redraw() {
  legend();
  for (const one of [graph, above, below]) {
    one.draw();
  }
}

const search = byId("search");
search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  view.found = null;
  byId("matches").textContent = "";
  if (wanted) {
    view.found = new Set([...strings.keys()].filter((at) => strings[at].toLowerCase().includes(wanted)));
    const covered = new Uint8Array(whole.count);
    let found = 0;
    let sum = 0;
    for (let box = 1; box < whole.count; box++) {
      const hit = view.found.has(whole.name[box]);
      const inside = covered[whole.parent[box]];
      found += hit ? 1 : 0;
      // What lies below a match is in it already.
      sum += hit && !inside ? whole.samples[box] : 0;
      covered[box] = hit || inside ? 1 : 0;
    }
    const boxes = found === 1 ? "1 box" : `${number.format(found)} boxes`;
    byId("matches").textContent = `${boxes}, ${amount(sum)}, ${share(sum, whole.samples[0])}`;
  }
  list.fill();
  redraw();
});
byId("reset").addEventListener("click", () => {
  search.value = "";
  search.dispatchEvent(new Event("input"));
  graph.zoom(0);
});
byId("close").addEventListener("click", () => {
  byId("around").hidden = true;
  byId("graph").focus();
});
byId("direction").addEventListener("change", (event) => {
  view.upwards = event.target.value === "flame";
  graph.draw();
});
const colours = byId("colours");
if (!isDifference) {
  colours.querySelector("[value=change]").remove();
}
colours.value = view.colours;
colours.addEventListener("change", () => {
  view.colours = colours.value;
  redraw();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) {
    search.focus();
    event.preventDefault();
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

head();
legend();
graph.show(whole);
