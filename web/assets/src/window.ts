// The scale of relative values: logarithmic, symmetric around 1.00. Positions are natural logarithms of ratios.

export interface Window {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/** Distances between ticks that look round as ratios: 1.01, 1.02, 1.05, 1.10, sixth, fourth and square root of 2, 2, 4, 10 … */
const steps = [1.01, 1.02, 1.05, 1.1, 2 ** (1 / 6), 2 ** 0.25, 2 ** 0.5, 2, 4, 10, 100, 1000].map(Math.log);

/** The smallest window that holds all positions and 0, its ticks at round ratios. */
export function fitWindow(positions: readonly number[], large: boolean): Window {
  const low = Math.min(0, ...positions);
  const high = Math.max(0, ...positions);
  const most = large ? 8 : 5;
  for (const step of steps) {
    // A tenth of a step on both sides keeps lines off the edges.
    const first = Math.floor(low / step - 0.1);
    const last = Math.ceil(high / step + 0.1);
    if (last - first + 1 > most) continue;
    const ticks = [];
    for (let i = first; i <= last; i++) ticks.push(i * step);
    return { low: first * step, high: last * step, ticks };
  }
  return { low, high, ticks: [low, 0, high] };
}

/** A ratio on the scale: two decimals, fewer for large ones. */
export function tickText(position: number): string {
  const r = Math.exp(position);
  return r >= 9.95 ? (r >= 99.5 ? r.toFixed(0) : r.toFixed(1)) : r < 0.0995 ? r.toPrecision(1) : r.toFixed(2);
}

/** Labels that stand side by side: keeps them in order and at least `gap` apart, moving them as little as it can. */
export function pushApart(places: readonly number[], gap: number): number[] {
  const order = places.map((_, i) => i).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const at = order.map((i) => places[i] ?? 0);
  for (let round = 0; round < 40; round++) {
    let moved = false;
    for (let j = 1; j < at.length; j++) {
      const near = gap - ((at[j] ?? 0) - (at[j - 1] ?? 0));
      if (near > 0.01) {
        at[j - 1] = (at[j - 1] ?? 0) - near / 2;
        at[j] = (at[j] ?? 0) + near / 2;
        moved = true;
      }
    }
    if (!moved) break;
  }
  const out = new Array<number>(places.length).fill(0);
  order.forEach((i, j) => (out[i] = at[j] ?? 0));
  return out;
}

/**
 * Which versions of an axis are labelled: the first of each group, then every one that is at least `need` steps from the
 * last label and from the next first.
 */
export function labelled(count: number, firsts: readonly number[], need: number): number[] {
  const out: number[] = [];
  let last = -Infinity;
  for (let i = 0; i < count; i++) {
    const isFirst = firsts.includes(i);
    const next = firsts.find((a) => a > i);
    if (i - last >= need && (isFirst || next === undefined || next - i >= need)) {
      out.push(i);
      last = i;
    }
  }
  return out;
}
