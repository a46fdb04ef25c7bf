// --- the table: every function, with what is its own and what it called ------------------------------
const MOST_LISTED = 200;

/** Recursion counts once: what lies below a function of the same name is in it already. */
function sums(tree) {
  const found = new Map();
  for (let box = 1; box < tree.count; box++) {
    const name = tree.name[box];
    const one = found.get(name) ?? { name, own: 0, total: 0, ownBefore: 0, totalBefore: 0 };
    found.set(name, one);
    one.own += tree.own[box];
    one.ownBefore += tree.before ? tree.ownBefore[box] : 0;
    let above = tree.parent[box];
    while (above > 0 && tree.name[above] !== name) {
      above = tree.parent[above];
    }
    if (above <= 0) {
      one.total += tree.samples[box];
      one.totalBefore += tree.before ? tree.before[box] : 0;
    }
  }
  return [...found.values()];
}

const grewBy = (whole, before) => whole - 2 * before;

/** Title, what it is sorted by, and what a cell says; of one profile, or of two. */
function columnsOf(tree) {
  const total = tree.samples[0];
  if (!tree.before) {
    return [
      ["Own", (one) => one.own, (one) => share(one.own, total)],
      ["With what it called", (one) => one.total, (one) => share(one.total, total)],
    ];
  }
  return [
    ["Own, change", (one) => grewBy(one.own, one.ownBefore)],
    ["Own before", (one) => one.ownBefore],
    ["With what it called, change", (one) => grewBy(one.total, one.totalBefore)],
    ["With what it called, before", (one) => one.totalBefore],
  ].map(([title, value]) => [
    title,
    value,
    (one) => (title.includes("change") ? signed(value(one)) : amount(value(one))),
  ]);
}

function table(tree, opened) {
  const columns = columnsOf(tree);
  const all = sums(tree);
  const head = document.querySelector("#functions thead tr");
  const body = document.querySelector("#functions tbody");
  const rest = document.getElementById("rest");
  let sorted = 0;
  let falling = true;

  const cells = columns.map(([title], place) => {
    const cell = element("th");
    const button = element("button", title);
    button.type = "button";
    button.addEventListener("click", () => {
      falling = sorted === place ? !falling : true;
      sorted = place;
      fill();
    });
    cell.append(button);
    return cell;
  });
  head.append(element("th", "Function"), ...cells);

  function fill() {
    const [, value] = columns[sorted];
    const listed = view.found ? all.filter((one) => view.found.has(one.name)) : [...all];
    listed.sort((a, b) => (falling ? value(b) - value(a) : value(a) - value(b)));
    cells.forEach((cell, place) => {
      const direction = falling ? "descending" : "ascending";
      cell.setAttribute("aria-sort", place === sorted ? direction : "none");
    });
    body.replaceChildren(
      ...listed.slice(0, MOST_LISTED).map((one) => {
        const row = element("tr");
        const first = element("td");
        const button = element("button", strings[one.name]);
        button.type = "button";
        button.title = "Show its callers and what it called";
        button.addEventListener("click", () => opened(one.name));
        first.append(button);
        row.append(first, ...columns.map(([, , said]) => element("td", said(one))));
        return row;
      }),
    );
    const left = listed.length - MOST_LISTED;
    rest.textContent = left > 0 ? `and ${number.format(left)} more: search for them` : "";
  }
  fill();
  return { fill };
}
