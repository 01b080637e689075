// Changes and notes on charts. Which changes are marked follows the sensitivity; levels are the means between them.

import { countAt, logAt, se2At, valueAt, type Ratio } from "./ratio.ts";
import type { ChangeMark, Figure, Line, View } from "./spec.ts";

/** The index of the view's sensitivity among its settings; -1 where nothing can be marked. */
export function settingOf(view: View, name: string): number {
  const settings = view.settings ?? [];
  const i = settings.findIndex((s) => s.name === name);
  return i >= 0 ? i : settings.findIndex((s) => s.name === view.sensitivity);
}

/** The changes of a figure that a setting marks. */
export function marked(figure: Figure, setting: number): readonly ChangeMark[] {
  return (figure.changes ?? []).filter((c) => c.from <= setting);
}

/** A stretch without a lasting change: its mean as a position on the scale, and the half width of the mean's interval. */
export interface Level {
  readonly from: number;
  readonly to: number;
  readonly position: number;
  readonly half: number;
}

/**
 * The levels between the lasting changes of a line, spikes left out, then those of its spikes, relative to what its
 * ratios are relative to. None where the line has no single base.
 */
export function levels(line: Line, marks: readonly ChangeMark[], ratios: readonly Ratio[]): Level[] {
  const base = baseLog(line, ratios);
  if (base === null) return [];
  const lasting = marks.filter((m) => m.back < 0).map((m) => m.at);
  const edges = [...new Set([0, ...lasting, ratios.length])].sort((a, b) => a - b);
  const spikes = marks.filter((m) => m.back >= 0);
  const spiked = (i: number) => spikes.some((m) => i >= m.at && i < m.back);
  const out: Level[] = [];
  const add = (from: number, end: number, left: (i: number) => boolean) => {
    let [n, sum, variance, first, last] = [0, 0, 0, -1, -1];
    for (let i = from; i < end; i++) {
      const value = valueAt(line, i);
      const se2 = se2At(line, i);
      if (value === null || value <= 0 || se2 === null || line.flagged?.includes(i) || left(i)) continue;
      const count = countAt(line, i);
      n += count;
      sum += count * logAt(line, i);
      variance = Math.max(variance, se2 * count);
      if (first < 0) first = i;
      last = i;
    }
    if (n > 0) out.push({ from: first, to: last, position: sum / n - base, half: line.multiplier * Math.sqrt(variance / n) });
  };
  edges.slice(0, -1).forEach((from, k) => add(from, edges[k + 1] ?? ratios.length, spiked));
  for (const m of spikes) add(m.at, m.back, () => false);
  return out;
}

/** ln of the figure that all of a line's points were divided by; null where they were divided by different ones. */
function baseLog(line: Line, ratios: readonly Ratio[]): number | null {
  let base: number | null = null;
  for (const [i, r] of ratios.entries()) {
    const value = valueAt(line, i);
    if (value === null || value <= 0 || r.relative === null || r.relative <= 0) continue;
    const b = Math.log(value) - Math.log(r.relative);
    if (base !== null && Math.abs(b - base) > 1e-9) return null;
    base ??= b;
  }
  return base;
}

/** The notes at a version of a figure. */
export function notesAt(figure: Figure, i: number): readonly { readonly n: number; readonly text: string }[] {
  return (figure.notes ?? []).filter((n) => n.at <= i && i <= n.to);
}

/** What is said of the marked changes of a page with one large chart. */
export function markedText(steps: number, spikes: number, expected: string): string {
  const count = (n: number, one: string) => (n === 1 ? `1 ${one}` : `${n} ${one}s`);
  return `${count(steps, "step")} and ${count(spikes, "spike")}; at this setting ${expected} false ones are expected`;
}
