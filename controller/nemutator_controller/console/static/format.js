// How values are written for people. Pure: values in, text out; what is not known is never a zero.

export const UNKNOWN = "—";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(value) {
  if (value == null) return UNKNOWN;
  let scaled = value;
  let unit = 0;
  // 1023.95 would be rounded up to "1024.0": the next unit is easier to read.
  while (scaled >= 1023.95 && unit < UNITS.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[unit]}`;
}

/** CPU in cores, always with the same decimals, so that a column of them can be compared. */
export function cores(value) {
  if (value == null) return UNKNOWN;
  if (value > 0 && value < 0.0005) return "<0.001";
  return value.toFixed(3);
}

export function percent(value) {
  if (value == null) return UNKNOWN;
  if (value > 0 && value < 0.1) return "<0.1 %";
  return `${value.toFixed(value < 10 && value > 0 ? 1 : 0)} %`;
}

/** The resource that work waited most for: {cpu, memory, io} in percent to [percent, name]. */
export function worst(waiting) {
  const known = ["cpu", "memory", "io"].filter((resource) => waiting[resource] != null);
  if (known.length === 0) return [null, ""];
  const highest = known.reduce((a, b) => (waiting[b] > waiting[a] ? b : a));
  const some = waiting[highest];
  // When nothing waits, no resource is the worst.
  return [some, some === 0 ? "" : highest === "io" ? "disk" : highest];
}

/** A length of time in its largest whole unit: close enough to read, short enough to scan. */
export function span(seconds) {
  if (seconds == null) return UNKNOWN;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min`;
  if (whole < 172800) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} d`;
}

export function counted(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}

const RUNTIMES = {
  go: "Go",
  python: "Python",
  java: "Java",
  node: "Node.js",
  ruby: "Ruby",
  php: "PHP",
  dotnet: ".NET",
  perl: "Perl",
  shell: "Shell",
};

/** `Go 1.26.8`; Go calls its own versions `go1.26.8`, which would name Go twice. */
export function runtime(name, version) {
  const called = Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : name;
  return version ? `${called} ${version.replace(/^go/, "")}` : called;
}

/**
 * Text chosen by strangers, made safe to read: control characters and the characters that reorder or hide their
 * neighbours are shown as escapes, so that a process cannot pass for another.
 */
export function visible(text) {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0).toString(16)}}`,
  );
}
