// Dividing by a base, in the browser. The formulas are those of the server's one computation (internal/compare); both
// are tested with web/chart/testdata/ratios.json.

import type { Base, Figure, Line } from "./spec.ts";

/** A relative value with its interval; null where there is none. */
export interface Ratio {
  readonly relative: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** What a relative value means, given its doubt; "" where nothing may be said. */
export type Verdict = "better" | "worse" | "undecided" | "moved" | "";

export type Direction = "higher" | "lower" | "neutral";

const nothing: Ratio = { relative: null, low: null, high: null };

export function valueAt(line: Line, i: number): number | null {
  return line.value[i] ?? null;
}

/** Samples counted at a version. */
export function countAt(line: Line, i: number): number {
  return typeof line.n === "number" ? line.n : (line.n[i] ?? 0);
}

/** Squared standard error of ln(value) at a version, null where it is not known. */
export function se2At(line: Line, i: number): number | null {
  const value = valueAt(line, i);
  if (value === null || value <= 0 || line.se2 === null) return null;
  return typeof line.se2 === "number" ? line.se2 : (line.se2[i] ?? null);
}

/** The mean of ln of the samples at a version with a positive median: what intervals and levels are made of. */
export function logAt(line: Line, i: number): number {
  return Math.log(line.value[i] ?? NaN) + (line.shift?.[i] ?? 0);
}

/** The line of the figure that `line` is divided by: itself, or that of the base's compiler or config. */
export function sourceOf(figure: Figure, line: Line, base: Base): Line | null {
  if (!base.compiler && !base.config) return line;
  const compiler = base.compiler || line.compiler;
  const config = base.config || line.config;
  const same = (l: Line) =>
    l.server === line.server && l.workload === line.workload && l.clients === line.clients && l.compiler === compiler && l.config === config;
  return figure.lines.find(same) ?? null;
}

/** The relative values of a line, one per version of the view; nothing where its base is not among the figures sent. */
export function divide(figure: Figure, line: Line, base: Base, versions: readonly string[]): Ratio[] {
  const given = line.given;
  if (given && sameBase(given.base, base)) {
    return versions.map((_, i) => ({ relative: given.relative[i] ?? null, low: given.low[i] ?? null, high: given.high[i] ?? null }));
  }
  const source = sourceOf(figure, line, base);
  const baseAt = versions.indexOf(base.version);
  return versions.map((_, i) => {
    const at = base.version === "" ? i : baseAt;
    const value = valueAt(line, i);
    const divisor = source ? valueAt(source, at) : null;
    if (!source || value === null || divisor === null || divisor <= 0) return nothing;
    const relative = value / divisor;
    // A point divided by itself is 1.00 by definition and has no doubt.
    if (source === line && at === i) return { relative, low: relative, high: relative };
    const se2 = se2At(line, i);
    const baseSE2 = se2At(source, at);
    if (se2 === null || baseSE2 === null) return { relative, low: null, high: null };
    const half = Math.max(line.multiplier, source.multiplier) * Math.sqrt(se2 + baseSE2);
    const log = logAt(line, i) - logAt(source, at);
    // Stretched to the ratio that is shown: of skewed repeats medians and means may say opposite things.
    return { relative, low: Math.min(Math.exp(log - half), relative), high: Math.max(Math.exp(log + half), relative) };
  });
}

/**
 * Whether a base can be divided by here: its version is on the axis, and the compiler or config that it names is shown;
 * or the server sent ratios to it along.
 */
export function canDivide(figures: readonly Figure[], base: Base, versions: readonly string[]): boolean {
  const lines = figures.flatMap((f) => f.lines);
  if (lines.length > 0 && lines.every((l) => l.given && sameBase(l.given.base, base))) return true;
  if (base.version !== "" && !versions.includes(base.version)) return false;
  if (base.version === "" && !base.compiler && !base.config) return false;
  if (!base.compiler && !base.config) return true;
  return lines.some((l) => (!base.compiler || l.compiler === base.compiler) && (!base.config || l.config === base.config));
}

/** Why a line has no ratios to a base, "" when it has some. */
export function whyNot(figure: Figure, line: Line, base: Base, versions: readonly string[], ratios: readonly Ratio[]): string {
  if (ratios.some((r) => r.relative !== null)) return "";
  const source = sourceOf(figure, line, base);
  if (!source) return "no series of the base";
  if (base.version === "") return "no version in common with the base";
  return valueAt(source, versions.indexOf(base.version)) === null ? `not measured at ${base.version}` : "n/a (baseline 0)";
}

export function sameBase(a: Base, b: Base): boolean {
  return a.version === b.version && a.compiler === b.compiler && a.config === b.config;
}

/** The verdict on a ratio: undecided where its interval holds 1.00. */
export function judge(r: Ratio, flagged: boolean, direction: Direction): Verdict {
  if (r.relative === null || r.low === null || r.high === null || flagged) return "";
  if (r.low <= 1 && r.high >= 1) return "undecided";
  if (direction === "neutral") return "moved";
  return r.low > 1 === (direction === "higher") ? "better" : "worse";
}

/** The half width in ln of a ratio's interval, null where it is not known. */
export function halfWidth(r: Ratio): number | null {
  if (r.low === null || r.high === null || r.low <= 0) return null;
  return Math.log(r.high / r.low) / 2;
}
