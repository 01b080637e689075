// A version that was clicked: its figures stay, with what can be done with it.

import { compareAddress } from "./address.ts";
import { marked } from "./marks.ts";
import type { Ratio } from "./ratio.ts";
import type { Base, Figure, View } from "./spec.ts";
import { remarks, severalRows, singleRows } from "./tip.ts";
import { element } from "./words.ts";

export interface LockActions {
  base(version: number): void;
  close(): void;
}

export class LockedVersion {
  private readonly box = element("div", "", "lock tip");
  private run: HTMLAnchorElement | null = null;
  private change: HTMLAnchorElement | null = null;
  private note: HTMLAnchorElement | null = null;
  private compare: HTMLAnchorElement | null = null;

  constructor(
    stage: HTMLElement,
    private readonly chart: HTMLElement,
    private readonly actions: LockActions,
  ) {
    this.box.setAttribute("role", "dialog");
    this.box.hidden = true;
    stage.append(this.box);
  }

  runLink(): HTMLAnchorElement | null {
    return this.box.hidden ? null : this.run;
  }

  changeLink(): HTMLAnchorElement | null {
    return this.box.hidden ? null : this.change;
  }

  noteLink(): HTMLAnchorElement | null {
    return this.box.hidden ? null : this.note;
  }

  compareLink(): HTMLAnchorElement | null {
    return this.box.hidden ? null : this.compare;
  }

  hide(): void {
    this.box.hidden = true;
  }

  /** Shows the figures of a version left of its place, below the line. */
  show(view: View, base: Base, figure: Figure, ratios: readonly (readonly Ratio[])[], i: number, x: number, setting: number): void {
    const version = view.versions[i] ?? "";
    this.box.setAttribute("aria-label", `${version}, ${figure.title}`);
    const single = figure.lines.length === 1;
    const head = element("h4", version);
    const line = figure.lines[0];
    const day = line?.started?.[i];
    head.append(element("span", [single ? line?.compiler : figure.title, day ? `run of ${day}` : ""].filter((s) => s).join(" · ")));
    const close = element("button", "✕", "icon");
    close.type = "button";
    close.setAttribute("aria-label", "Close, Esc");
    close.addEventListener("click", () => this.actions.close());
    head.append(close);

    const dl = element("dl", "", single ? "two" : "three");
    if (single) singleRows(dl, view, base, figure, ratios, i);
    else severalRows(dl, view, figure, ratios, i);
    this.box.replaceChildren(head, dl);
    for (const r of remarks(figure, i, setting)) this.box.append(element("div", r, "nt"));
    this.box.append(this.actionRow(view, base, figure, i, setting));
    this.box.hidden = false;

    if (this.chart.clientWidth < 560) {
      this.box.removeAttribute("style"); // a plain block under the chart
      return;
    }
    const left = x - this.box.offsetWidth - 12;
    this.box.style.left = `${left >= 0 ? left : Math.min(x + 12, this.chart.clientWidth - this.box.offsetWidth)}px`;
    this.box.style.top = `${this.chart.clientHeight - 32 - this.box.offsetHeight - 8}px`;
  }

  private actionRow(view: View, against: Base, figure: Figure, i: number, setting: number): HTMLElement {
    const row = element("div", "", "act");
    this.change = null;
    const href = marked(figure, setting).find((c) => c.at === i && c.href)?.href;
    if (href) {
      this.change = element("a", "Open change ");
      this.change.href = href;
      this.change.append(element("kbd", "o"));
    }
    this.note = null;
    const add = document.querySelector<HTMLAnchorElement>("a[data-key=n]");
    if (add) {
      const to = new URL(add.href);
      to.searchParams.set("version", view.versions[i] ?? "");
      this.note = element("a", "Add note ");
      this.note.href = to.href;
      this.note.append(element("kbd", "n"));
    }
    this.compare = null;
    const sets = document.querySelector<HTMLAnchorElement>("a[data-key=c]");
    if (sets) {
      this.compare = element("a", "Compare ");
      this.compare.href = compareAddress(sets.getAttribute("href") ?? "", against, view.versions[i] ?? "");
      this.compare.append(element("kbd", "c"));
    }
    const base = element("button", "Make base ", "as-link");
    base.type = "button";
    base.append(element("kbd", "b"));
    base.addEventListener("click", () => this.actions.base(i));
    row.append(base);
    if (this.change) row.append(this.change);
    if (this.note) row.append(this.note);
    if (this.compare) row.append(this.compare);

    this.run = null;
    for (const line of figure.lines) {
      const runs = line.runs?.[i];
      const ids = runs === null || runs === undefined ? [] : typeof runs === "number" ? [runs] : runs;
      ids.forEach((id) => {
        const link = element("a", figure.lines.length === 1 && ids.length === 1 ? "Open run " : `Run ${id}${figure.lines.length > 1 ? `, ${line.name}` : ""} `);
        link.href = `/runs/${id}`;
        if (!this.run) {
          this.run = link;
          link.append(element("kbd", "r"));
        }
        row.append(link);
      });
    }
    const copy = element("button", "Copy link ", "as-link");
    copy.type = "button";
    copy.dataset["copyView"] = "";
    copy.append(element("kbd", "y"));
    row.append(copy);
    return row;
  }
}
