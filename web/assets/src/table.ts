// Tables under charts: after a change of base their ratios are written again. Rows are the versions at which the figure
// has a point, in order, over all tables; cells are the version, then value, ratio and perhaps interval of each line.

import * as format from "./format.ts";
import { valueAt, type Ratio } from "./ratio.ts";
import type { Figure, View } from "./spec.ts";
import { classes, intervalText, verdictAt } from "./words.ts";

/** The rows of all tables with the version (by index) that each is about. */
function rowsOf(tables: NodeListOf<HTMLTableElement>, view: View, figure: Figure): (readonly [HTMLTableRowElement, number])[] {
  const measured = view.versions.map((_, i) => i).filter((i) => figure.lines.some((l) => valueAt(l, i) !== null));
  const rows = [...tables].flatMap((t) => [...t.tBodies].flatMap((b) => [...b.rows]));
  return rows.flatMap((tr, k) => (measured[k] === undefined ? [] : [[tr, measured[k]] as const]));
}

/** Marks the row of a version, and no other; -1 marks none. */
export function markRow(tables: NodeListOf<HTMLTableElement>, view: View, figure: Figure, version: number): void {
  for (const [tr, i] of rowsOf(tables, view, figure)) {
    if (i === version) tr.className = "on";
    else tr.removeAttribute("class");
  }
}

export function fillTable(tables: NodeListOf<HTMLTableElement>, view: View, figure: Figure, ratios: readonly (readonly Ratio[])[]): void {
  for (const [tr, i] of rowsOf(tables, view, figure)) {
    const columns = (tr.cells.length - 1) / figure.lines.length;
    for (const [j, line] of figure.lines.entries()) {
      const ratioCell = tr.cells[1 + j * columns + 1];
      const intervalCell = columns > 2 ? tr.cells[1 + j * columns + 2] : undefined;
      const r = ratios[j]?.[i];
      if (!ratioCell || !r || valueAt(line, i) === null) continue;
      const text = r.relative === null ? format.missing : format.ratio(r.relative, r.low, r.high);
      const flagged = line.flagged?.includes(i) ?? false;
      ratioCell.textContent = flagged ? `× ${text}` : text;
      ratioCell.className = flagged ? "fl" : classes[verdictAt(line, i, r, view)];
      if (intervalCell) intervalCell.textContent = intervalText(r);
    }
  }
}
