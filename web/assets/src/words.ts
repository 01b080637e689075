// Sentences that depend on the base. The server writes the same ones (web/words.go, web/charts.go).

import * as format from "./format.ts";
import { judge, valueAt, type Ratio, type Verdict } from "./ratio.ts";
import type { Base, Figure, Line, View } from "./spec.ts";

/** A piece of a sentence with its class: up, dn, eq, mv for ratios. */
export interface Part {
  readonly text: string;
  readonly strong?: boolean;
  readonly kind?: string;
}

export const glyphs: Record<Verdict, string> = { better: "▲", worse: "▼", undecided: "≈", moved: "◆", "": "" };
export const classes: Record<Verdict, string> = { better: "up", worse: "dn", undecided: "eq", moved: "mv", "": "" };

/** Stands where the interval of the base itself would be. */
export const baseWord = "base";

export function compilerName(c: string): string {
  return c === "clang+lto" ? "clang+LTO" : c;
}

export function baseText(b: Base): string {
  const parts = [compilerName(b.compiler), b.config].filter((s) => s !== "");
  if (b.version !== "") parts.push(b.version);
  else if (parts.length > 0) parts.push("at each version");
  else return "none";
  return parts.join(" ");
}

export function isBase(r: Ratio): boolean {
  return r.low !== null && r.low === r.high;
}

export function intervalText(r: Ratio): string {
  return isBase(r) ? baseWord : format.interval(r.low, r.high);
}

export function ratioText(r: Ratio, verdict: Verdict): string {
  if (r.relative === null) return format.missing;
  return `${glyphs[verdict]} ${format.ratio(r.relative, r.low, r.high)}`.trim();
}

export function verdictAt(line: Line, i: number, r: Ratio, view: View): Verdict {
  return judge(r, line.flagged?.includes(i) ?? false, view.metric.direction);
}

/** What 1.00 stands for, as the heading of a chart says it. */
export function oneText(figure: Figure, base: Base, view: View, ratios: readonly (readonly Ratio[])[], show: (v: number) => string): string {
  let value: number | null = null;
  for (const [i, line] of figure.lines.entries()) {
    if (base.version === "") break;
    const b = baseValue(line, ratios[i] ?? []);
    if (b === null) continue;
    if (value !== null && Math.abs(b - value) > 1e-9 * Math.abs(value)) return `1.00 = each its own ${baseText(base)}`;
    value ??= b;
  }
  const whose = base.compiler || base.config ? `${baseText(base)}, ` : "";
  if (value !== null) return `1.00 = ${whose}${show(value)}${format.unitSuffix(view.metric.unit)}`;
  if (base.version === "" && (base.compiler || base.config)) return `1.00 = ${baseText(base)}`;
  return "";
}

/** The figure that a line was divided by: exactly, where the base is one of its own points, else from a ratio. */
function baseValue(line: Line, ratios: readonly Ratio[]): number | null {
  for (const [i, r] of ratios.entries()) if (isBase(r)) return valueAt(line, i);
  for (const [i, r] of ratios.entries()) {
    const v = valueAt(line, i);
    if (r.relative !== null && r.relative > 0 && v !== null) return Number((v / r.relative).toPrecision(12));
  }
  return null;
}

/** How the last version of a line stands: 8.8.0 is ▼ 0.82 of 4.4.1 (0.80–0.84). */
export function nowParts(line: Line, base: Base, view: View, ratios: readonly Ratio[], why: string): Part[] {
  let last = view.versions.length - 1;
  while (last > 0 && valueAt(line, last) === null) last--;
  const version = view.versions[last] ?? "";
  const subject = line.name === "" ? version : `${line.name} ${version}`;
  const r = ratios[last];
  if (!r || r.relative === null) return [{ text: `${subject}: ${why || "no base"}` }];
  if (isBase(r)) return [{ text: `${subject} is the base` }];
  const v = verdictAt(line, last, r, view);
  const doubt = r.low === null ? ", noise unknown" : ` (${format.interval(r.low, r.high)})`;
  return [{ text: `${subject} is ` }, { text: ratioText(r, v), strong: true, kind: classes[v] }, { text: ` of ${baseText(base)}${doubt}` }];
}

/** The sentence above small multiples with one line each; nothing where there is none to say. */
export function leadParts(base: Base, newest: string, verdicts: readonly Verdict[]): Part[] {
  const told = verdicts.filter((v) => v !== "");
  const total = told.length;
  if (total === 0 || base.version === "" || base.compiler || base.config) return [];
  if (base.version === newest) return [{ text: `${newest} is the base: everything is divided by it.` }];
  const count = (v: Verdict) => told.filter((t) => t === v).length;
  const steps = (n: number) => (total === 1 ? "the one step" : `${n} of ${total} steps`);
  let head = "";
  const rest: string[] = [];
  const add = (n: number, word: string) => {
    if (n === 0) return;
    if (head === "") head = `${newest} ${word} in ${steps(n)}`;
    else rest.push(`${word.replace(/^is /, "")} in ${n}`);
  };
  add(count("worse"), "is worse");
  add(count("better"), "is better");
  add(count("moved"), "differs");
  add(count("undecided"), "is undecided");
  const tail = (rest.length > 0 ? ", " + rest.join(", ") : "") + ".";
  return [{ text: `Against ${baseText(base)}, ` }, { text: head, strong: true }, { text: tail }];
}

/** Puts parts into an element as text. */
export function put(into: Element, parts: readonly Part[]): void {
  into.replaceChildren(
    ...parts.map((p) => {
      if (!p.strong && !p.kind) return document.createTextNode(p.text);
      const e = document.createElement(p.strong ? "b" : "span");
      if (p.kind) e.className = p.kind;
      e.textContent = p.text;
      return e;
    }),
  );
}

/** An element with text. */
export function element<K extends keyof HTMLElementTagNameMap>(name: K, text = "", className = ""): HTMLElementTagNameMap[K] {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

/** Says how wide all ratios' intervals of a line are, where they are alike: "interval of every ratio: × 0.973 to × 1.028". */
export function intervalNote(ratios: readonly Ratio[]): string {
  let half: number | null = null;
  for (const r of ratios) {
    if (r.relative === null || isBase(r)) continue;
    if (r.low === null || r.high === null) return "";
    const h = Math.log(r.high / r.low) / 2;
    if (half !== null && Math.abs(h - half) > 1e-9) return "";
    half = h;
  }
  return half === null ? "" : `interval of every ratio: × ${format.fixed(Math.exp(-half), 3)} to × ${format.fixed(Math.exp(half), 3)}`;
}

/** Describes a chart to those who do not see it. */
export function label(figure: Figure, base: Base, view: View, ratios: readonly (readonly Ratio[])[]): string {
  const ends = figure.lines.flatMap((line, k) => {
    let last = view.versions.length - 1;
    while (last > 0 && valueAt(line, last) === null) last--;
    const r = ratios[k]?.[last];
    if (!r || r.relative === null) return [];
    return [`${line.name ? line.name + " " : ""}${view.versions[last] ?? ""} is ${format.ratio(r.relative, r.low, r.high)}`];
  });
  const first = view.versions[0] ?? "";
  const last = view.versions.at(-1) ?? "";
  const range = view.versions.length === 1 ? first : `${first} to ${last}`;
  const text = `${figure.title}: relative ${view.metric.title} of ${range}, base ${baseText(base)}`;
  return `${text}${ends.length > 0 ? "; " + ends.join(", ") : ""}. Arrow keys move along the versions.`;
}
