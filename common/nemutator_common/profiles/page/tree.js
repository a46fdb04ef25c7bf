// --- trees: boxes in columns, a parent before its children ------------------------------------------
const strings = profile.strings;

/** What `columns` lack for drawing: where each box begins, who is above it, and what is its own. */
function grown(columns) {
  const { depth, samples } = columns;
  const count = depth.length;
  const start = new Float64Array(count);
  const parent = new Int32Array(count).fill(-1);
  const own = Float64Array.from(samples);
  const before = columns.before.length ? columns.before : null;
  const ownBefore = before && Float64Array.from(before);
  const filled = new Float64Array(count);
  const path = [];
  const rows = [];
  for (let box = 0; box < count; box++) {
    path.length = depth[box];
    if (path.length > 0) {
      const above = path[path.length - 1];
      parent[box] = above;
      start[box] = start[above] + filled[above];
      filled[above] += samples[box];
      own[above] -= samples[box];
      if (before) {
        ownBefore[above] -= before[box];
      }
    }
    path.push(box);
    (rows[depth[box]] ??= []).push(box);
  }
  const { name, file, line, kind } = columns;
  const nameOf = (box) => strings[name[box]];
  const isInlined = (box) => kind[box] < 0;
  const kindOf = (box) => profile.kinds[isInlined(box) ? -1 - kind[box] : kind[box]];
  return {
    count, depth, samples, before, own, ownBefore, start, parent, rows,
    name, file, line, kind, nameOf, isInlined, kindOf,
  };
}

/** The boxes of `tree` with that name which have none of that name above them. */
function outermost(tree, wanted) {
  const covered = new Uint8Array(tree.count);
  const found = [];
  for (let box = 1; box < tree.count; box++) {
    const above = tree.parent[box];
    const hit = tree.name[box] === wanted;
    if (hit && !covered[above]) {
      found.push(box);
    }
    covered[box] = hit || covered[above] ? 1 : 0;
  }
  return found;
}

/** A node of a tree that is being merged: equal functions share one. */
function node(tree, box) {
  return { tree, box, samples: 0, before: 0, within: new Map() };
}

function step(from, tree, box, samples, before) {
  const key = `${tree.name[box]} ${tree.kind[box]}`;
  let next = from.within.get(key);
  if (!next) {
    next = node(tree, box);
    from.within.set(key, next);
  }
  next.samples += samples;
  next.before += before;
  return next;
}

/** The nodes as columns, in the order of their names, as the brain sends them. */
function flattened(root) {
  const columns = { depth: [], samples: [], before: [], name: [], file: [], line: [], kind: [] };
  const waiting = [[root, 0]];
  while (waiting.length) {
    const [one, depth] = waiting.pop();
    const { tree, box } = one;
    columns.depth.push(depth);
    columns.samples.push(one.samples);
    if (tree.before) {
      columns.before.push(one.before);
    }
    for (const column of ["name", "file", "line", "kind"]) {
      columns[column].push(tree[column][box]);
    }
    const within = [...one.within.values()];
    within.sort((a, b) => (a.tree.nameOf(a.box) < b.tree.nameOf(b.box) ? 1 : -1));
    waiting.push(...within.map((next) => [next, depth + 1]));
  }
  return columns;
}

/** Who has called the function `wanted`, whoever that was: the function, then its callers. */
function callers(tree, wanted) {
  const found = outermost(tree, wanted);
  const root = node(tree, found[0]);
  for (const box of found) {
    const samples = tree.samples[box];
    const before = tree.before ? tree.before[box] : 0;
    root.samples += samples;
    root.before += before;
    let at = root;
    for (let above = tree.parent[box]; above > 0; above = tree.parent[above]) {
      at = step(at, tree, above, samples, before);
    }
  }
  const made = grown(flattened(root));
  return { ...made, own: made.samples }; // what a caller did itself is not in this tree
}

/** What the function `wanted` has called, wherever it ran: the function, then its callees. */
function callees(tree, wanted) {
  const found = outermost(tree, wanted);
  const root = node(tree, found[0]);
  for (const first of found) {
    root.samples += tree.samples[first];
    root.before += tree.before ? tree.before[first] : 0;
    const path = [root];
    for (let box = first + 1; box < tree.count && tree.depth[box] > tree.depth[first]; box++) {
      path.length = tree.depth[box] - tree.depth[first];
      const before = tree.before ? tree.before[box] : 0;
      path.push(step(path[path.length - 1], tree, box, tree.samples[box], before));
    }
  }
  return grown(flattened(root));
}
