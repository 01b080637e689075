// What is said of a version under the cross-hair of a large chart. Nodes are built with textContent: names come from files.

import * as format from "./format.ts";
import { marked, notesAt } from "./marks.ts";
import { countAt, valueAt, type Ratio } from "./ratio.ts";
import type { Base, Figure, View } from "./spec.ts";
import { baseText, classes, element, intervalText, isBase, ratioText, verdictAt } from "./words.ts";

/** The version before this one at which a line has a ratio, -1 for none. */
export function before(ratios: readonly Ratio[], i: number): number {
  for (let k = i - 1; k >= 0; k--) if (ratios[k]?.relative) return k;
  return -1;
}

/** Adds a term and its description to a list. */
export function row(dl: HTMLElement, term: string, text: string, kind = ""): void {
  dl.append(element("dt", term), element("dd", text, kind));
}

/** The figures of a single line at a version, as rows. */
export function singleRows(dl: HTMLElement, view: View, base: Base, figure: Figure, ratios: readonly (readonly Ratio[])[], i: number): void {
  const line = figure.lines[0];
  const r = ratios[0]?.[i];
  if (!line || !r) return;
  const v = verdictAt(line, i, r, view);
  const value = valueAt(line, i);
  if (r.relative === null) row(dl, `relative to ${baseText(base)}`, format.missing);
  else if (isBase(r)) row(dl, "relative", "1.00, the base");
  else {
    row(dl, `relative to ${baseText(base)}`, `${ratioText(r, v)} (${format.percent(r.relative)})`, classes[v]);
  }
  row(dl, `${view.metric.title}, n = ${countAt(line, i)}`, value === null ? format.missing : format.full(value) + format.unitSuffix(view.metric.unit));
  if (!isBase(r)) row(dl, "95 % interval", r.low === null ? "noise unknown" : intervalText(r));
  const k = before(ratios[0] ?? [], i);
  const old = ratios[0]?.[k]?.relative;
  if (r.relative !== null && old) row(dl, `against ${view.versions[k] ?? ""}`, format.percent(r.relative / old));
  const spread = line.spread?.[String(i)];
  if (spread) row(dl, "least to greatest", `${format.full(spread[0])} to ${format.full(spread[1])}`);
}

/** A row per line: name, ratio, interval, figure. */
export function severalRows(dl: HTMLElement, view: View, figure: Figure, ratios: readonly (readonly Ratio[])[], i: number): void {
  for (const [k, line] of figure.lines.entries()) {
    const r = ratios[k]?.[i];
    const value = valueAt(line, i);
    if (!r || value === null) {
      dl.append(element("dt", line.name), element("dd", "not measured", "dim"), element("dd"), element("dd"));
      continue;
    }
    const v = verdictAt(line, i, r, view);
    const n = countAt(line, i);
    dl.append(
      element("dt", line.name), element("dd", ratioText(r, v), classes[v]), element("dd", intervalText(r), "mut"),
      element("dd", format.full(value) + format.unitSuffix(view.metric.unit) + (n > 1 ? `, n = ${n}` : "")),
    );
  }
}

/** Remarks that belong to a version: its notes, its change, flagged, mixed, two groups, another step from here. */
export function remarks(figure: Figure, i: number, setting: number): string[] {
  const out = notesAt(figure, i).map((n) => `note ${n.n}: ${n.text}`);
  for (const c of marked(figure, setting)) {
    const name = figure.lines[c.line]?.name;
    if (c.at === i) out.push(`${name ? `${name}: ` : ""}${c.text}`);
  }
  for (const line of figure.lines) {
    const name = line.name ? `${line.name}: ` : "";
    if (line.flagged?.includes(i)) out.push(`${name}× not comparable: the run carries a warning`);
    if (line.mixed?.includes(i)) out.push(`${name}samples of different builds, no repeats`);
    if (line.bimodal?.includes(i)) out.push(`${name}samples in two groups, the median says little`);
    for (const [at, step] of line.joins ?? []) if (at === i) out.push(`${name}${step} from here on`);
  }
  return out;
}

/** The light tooltip of a version; null where nothing was measured. */
export function tipFor(view: View, base: Base, figure: Figure, ratios: readonly (readonly Ratio[])[], i: number, setting: number): HTMLElement | null {
  const version = view.versions[i];
  if (version === undefined) return null;
  const tip = element("div", "", "tip");
  const head = element("h4", version);
  head.append(element("span", figure.title));
  const dl = element("dl");
  if (figure.lines.length === 1) singleRows(dl, view, base, figure, ratios, i);
  else {
    dl.className = "three";
    severalRows(dl, view, figure, ratios, i);
  }
  tip.append(head, dl);
  for (const r of remarks(figure, i, setting)) tip.append(element("div", r, "nt"));
  return tip;
}
