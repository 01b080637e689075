// A single line is coloured by what its ratios say. The colour changes where the line enters or leaves the band of what
// cannot be told from 1.00, also where that band gets wider or narrower because points have different numbers of samples.

/** A point of a line: place on the axis, position, and half width of its interval (null: unknown). */
export interface Placed {
  readonly x: number;
  readonly y: number;
  readonly half: number | null;
}

/** -1 below the band, 1 above it, 0 inside or unknown. */
export type Side = -1 | 0 | 1;

export function sideOf(p: Placed): Side {
  if (p.half === null || Math.abs(p.y) <= p.half) return 0;
  return p.y > 0 ? 1 : -1;
}

/** Stretches of one side, in order; each ends where the next begins. */
export function stretches(points: readonly Placed[]): { from: number; to: number; side: Side }[] {
  const out: { from: number; to: number; side: Side }[] = [];
  const add = (from: number, to: number, side: Side) => {
    const last = out.at(-1);
    if (last && last.side === side) last.to = to;
    else out.push({ from, to, side });
  };
  points.forEach((p, i) => {
    const next = points[i + 1];
    if (!next) {
      if (i === 0) add(p.x, p.x, sideOf(p));
      return;
    }
    const cuts = p.half === null || next.half === null ? [0.5] : crossings(p, next, p.half, next.half);
    let from = 0;
    for (const to of [...cuts, 1]) {
      const t = (from + to) / 2;
      const side =
        p.half === null || next.half === null
          ? sideOf(t < 0.5 ? p : next)
          : sideOf({ x: 0, y: p.y + t * (next.y - p.y), half: p.half + t * (next.half - p.half) });
      add(p.x + from * (next.x - p.x), p.x + to * (next.x - p.x), side);
      from = to;
    }
  });
  return out;
}

/** Where between two points the line crosses the upper or lower edge of the band, as shares of the way, in order. */
function crossings(a: Placed, b: Placed, halfA: number, halfB: number): number[] {
  const cuts: number[] = [];
  for (const sign of [1, -1]) {
    const f = a.y - sign * halfA;
    const g = b.y - sign * halfB;
    if (f * g < 0) cuts.push(f / (f - g));
  }
  return cuts.sort((x, y) => x - y);
}
