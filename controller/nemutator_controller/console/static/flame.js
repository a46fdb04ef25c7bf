// A small flame graph of folded stacks: which function takes how much, called by whom; and what is different between
// two. Pure: text in, boxes out.

export const WIDTH = 600;
export const STEP = 16;
const DEEPEST = 32;
/** Boxes that are narrower are not drawn, nor what they call. */
const NARROWEST = WIDTH / 300;
/** A page that is drawn every few seconds reads no more of it than this. */
const MOST_LINES = 20000;
/** Functions that are named as changed, and by how much of the whole at least. */
const MOST_CHANGES = 5;
const LEAST_CHANGE = 0.005;

/** `main;handle;parse 12`: frames from the outside in, and a weight. */
function stacks(folded) {
  return folded
    .split("\n", MOST_LINES)
    .map((line) => /^(.*) (\d+)$/.exec(line))
    .filter(Boolean)
    .map(([, frames, weight]) => ({ frames: frames.split(";").slice(0, DEEPEST), weight: Number(weight) }))
    .filter(({ weight }) => weight > 0);
}

function tree(found) {
  const root = { name: "all", weight: 0, own: 0, below: new Map() };
  for (const { frames, weight } of found) {
    root.weight += weight;
    let node = root;
    for (const name of frames) {
      if (!node.below.has(name)) node.below.set(name, { name, weight: 0, own: 0, below: new Map() });
      node = node.below.get(name);
      node.weight += weight;
    }
    node.own += weight;
  }
  return root;
}

/** Calls *visit* with each node below *root*, itself too, and its path. */
function walk(root, visit, path = "") {
  visit(root, path);
  for (const child of root.below.values()) walk(child, visit, `${path};${child.name}`);
}

/** By name of a function, its own share of the whole. */
function ownShares(root) {
  const own = new Map();
  walk(root, (node) => {
    if (node.own > 0) own.set(node.name, (own.get(node.name) ?? 0) + node.own / root.weight);
  });
  return own;
}

/** Boxes from the outermost function down, how high they are together, and the busiest functions in words. */
function drawn(root) {
  const boxes = [];
  let deepest = 0;
  const lay = (node, x, depth, path) => {
    const share = node.weight / root.weight;
    if (share * WIDTH < NARROWEST) return;
    deepest = Math.max(deepest, depth + 1);
    boxes.push({ key: path, name: node.name, x, y: depth * STEP, width: share * WIDTH, share });
    let at = x;
    for (const child of [...node.below.values()].sort((a, b) => b.weight - a.weight)) {
      lay(child, at, depth + 1, `${path};${child.name}`);
      at += (child.weight / root.weight) * WIDTH;
    }
  };
  if (root.weight > 0) lay(root, 0, 0, "");
  const busiest = [...ownShares(root)]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name, share]) => ({ name, share }));
  return { boxes, height: Math.max(1, deepest) * STEP, busiest };
}

export const flame = (folded) => drawn(tree(stacks(folded)));

/**
 * Two of them: each box with the share (`other`) that the same calls have in the other graph, and the functions of
 * which the own share differs most, the greatest difference first.
 */
export function compared(before, after) {
  const roots = [before, after].map((folded) => tree(stacks(folded)));
  const [earlier, later] = roots.map((root) => {
    const found = new Map();
    walk(root, (node, path) => found.set(path, node.weight / (root.weight || 1)));
    return found;
  });
  const beside = (graph, others) => ({
    ...graph,
    boxes: graph.boxes.map((box) => ({ ...box, other: others.get(box.key) ?? 0 })),
  });
  const [was, is] = roots.map(ownShares);
  const changes = [...new Set([...was.keys(), ...is.keys()])]
    .map((name) => ({ name, was: was.get(name) ?? 0, is: is.get(name) ?? 0 }))
    .filter((one) => Math.abs(one.is - one.was) >= LEAST_CHANGE)
    .sort((a, b) => Math.abs(b.is - b.was) - Math.abs(a.is - a.was))
    .slice(0, MOST_CHANGES);
  return { before: beside(drawn(roots[0]), later), after: beside(drawn(roots[1]), earlier), changes };
}
