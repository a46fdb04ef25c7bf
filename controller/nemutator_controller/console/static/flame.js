// A small flame graph of folded stacks: which function takes how much, called by whom. Pure: text in, boxes out.

export const WIDTH = 600;
export const STEP = 16;
const DEEPEST = 32;
/** Boxes that are narrower are not drawn, nor what they call. */
const NARROWEST = WIDTH / 300;
/** A page that is drawn every few seconds reads no more of it than this. */
const MOST_LINES = 20000;

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

/** Boxes from the outermost function down, how high they are together, and the busiest functions in words. */
export function flame(folded) {
  const root = tree(stacks(folded));
  const boxes = [];
  const own = new Map();
  let deepest = 0;
  const lay = (node, x, depth, path) => {
    own.set(node.name, (own.get(node.name) ?? 0) + node.own);
    const width = (node.weight / root.weight) * WIDTH;
    const drawn = width >= NARROWEST;
    if (drawn) {
      deepest = Math.max(deepest, depth + 1);
      boxes.push({ key: path, name: node.name, x, y: depth * STEP, width, share: node.weight / root.weight });
    }
    let at = x;
    for (const child of [...node.below.values()].sort((a, b) => b.weight - a.weight)) {
      if (drawn) lay(child, at, depth + 1, `${path};${child.name}`);
      at += (child.weight / root.weight) * WIDTH;
    }
  };
  if (root.weight > 0) lay(root, 0, 0, "");
  const busiest = [...own]
    .filter(([, weight]) => weight > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name, weight]) => ({ name, share: weight / root.weight }));
  return { boxes, height: Math.max(1, deepest) * STEP, busiest };
}
