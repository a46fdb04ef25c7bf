// Which part of time is shown, and which moment of it is read. Pure.

/** Of fewer steps nothing can be seen. */
const LEAST_STEPS = 3;

const shortest = ({ from, to, step, moments }) => LEAST_STEPS * (step ?? (to - from) / moments.length);

/** The place of the moment of *moments*, which are in order, that is nearest to *at*. */
export function nearest(moments, at) {
  let low = 0;
  let high = moments.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (moments[middle] <= at) low = middle;
    else high = middle;
  }
  return high > low && moments[high] - at < at - moments[low] ? high : low;
}

/** First and last place of *moments* within *range*; the nearest one where none is. */
export function within(moments, [from, to]) {
  const first = moments.findIndex((at) => at >= from);
  const last = moments.findLastIndex((at) => at <= to);
  if (first >= 0 && last >= first) return [first, last];
  const near = nearest(moments, (from + to) / 2);
  return [near, near];
}

/** What of *wanted* lies in *whole*; null for all of it, and where hardly anything is left of it. */
export function clipped(wanted, plot) {
  if (wanted == null) return null;
  const range = [Math.max(plot.from, wanted[0]), Math.min(plot.to, wanted[1])];
  const length = range[1] - range[0];
  return length < shortest(plot) || length >= plot.to - plot.from ? null : range;
}

/** *range* made longer by *factor*, or shorter, with what is at *around* left where it was; null for the whole. */
export function scaled(range, around, factor, whole) {
  const [from, to] = range ?? [whole.from, whole.to];
  const length = Math.max(shortest(whole), factor * (to - from));
  if (length >= whole.to - whole.from) return null;
  const part = Math.min(1, Math.max(0, (around - from) / (to - from)));
  const begin = Math.min(whole.to - length, Math.max(whole.from, around - part * length));
  return [begin, begin + length];
}

const DAY_S = 86400;

/** What is written below the moments *at* of an axis, of which one is *apart* seconds from the next. */
export function timeLabels(at, apart) {
  const day = new Intl.DateTimeFormat([], { day: "numeric", month: "short" });
  const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", ...(apart < 60 ? { second: "2-digit" } : {}) });
  return at.map((moment) => {
    const date = new Date(1000 * moment);
    const midnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
    return (apart >= DAY_S || midnight ? day : clock).format(date);
  });
}
