// --- words: numbers and names as people read them -------------------------------------------------
const profile = JSON.parse(document.getElementById("profile").textContent);
const isDifference = profile.difference !== undefined;

const number = new Intl.NumberFormat("en");
const seconds = (value) => `${value.toFixed(2)} s`;
const mebibytes = (value) => `${(value / 2 ** 20).toFixed(2)} MiB`;
const UNITS = { bytes: mebibytes, nanoseconds: (value) => seconds(value / 1e9) };
const amount = (value) =>
  Object.hasOwn(UNITS, profile.unit) ? UNITS[profile.unit](value) : `${number.format(value)} ${profile.unit}`;
const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${amount(Math.abs(value))}`;
const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(2)} %` : "0 %");

/** "github.com/x/y.(*T).M" → "github.com/x/y"; a name without a package is its own. */
function packageOf(name) {
  const slash = name.lastIndexOf("/");
  const dot = name.indexOf(".", slash + 1);
  return dot < 0 ? name : name.slice(0, dot);
}

function element(tag, text = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function colour(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
