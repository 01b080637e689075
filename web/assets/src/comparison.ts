// A page of charts of relative values: draws them, keeps cross-hairs together, divides by another base without asking the
// server, and keeps tables, words, links and address in step with what is drawn.

import { baseKeys, baseOf, rest, withKeys } from "./address.ts";
import { drawComparison } from "./draw.ts";
import { connect, init, type ECharts } from "./echarts.ts";
import * as format from "./format.ts";
import { LockedVersion } from "./lock.ts";
import { markedText, notesAt, settingOf } from "./marks.ts";
import { canDivide, divide, sameBase, valueAt, whyNot, type Ratio } from "./ratio.ts";
import { readFigure, type Base, type Figure, type View } from "./spec.ts";
import { fillTable, markRow } from "./table.ts";
import { tokens } from "./theme.ts";
import { tipFor } from "./tip.ts";
import * as words from "./words.ts";

const group = "comparison";

/** One chart of the page. */
interface Box {
  readonly at: HTMLElement;
  readonly host: HTMLElement; // figure or stage around the chart
  readonly figure: Figure;
  ratios: readonly (readonly Ratio[])[];
  chart: ECharts | null; // drawn when it comes into view
}

export class Comparison {
  private readonly boxes: Box[] = [];
  private readonly lock: LockedVersion | null;
  private base: Base;
  private locked = -1;
  private cursor = -1;
  private setting: number;

  constructor(private readonly view: View) {
    this.base = view.base;
    this.setting = settingOf(view, view.sensitivity ?? "");
    document.querySelectorAll<HTMLElement>("[data-chart]:not([data-time])").forEach((at) => {
      const figure = readFigure(at.dataset["chart"] ?? "", view);
      const host = at.closest<HTMLElement>(".fig, .stage");
      if (figure && host) this.boxes.push({ at, host, figure, ratios: [], chart: null });
    });
    this.divideAll();
    const first = this.boxes[0];
    this.lock = view.large && first ? new LockedVersion(first.host, first.at, { base: (i) => this.makeBase(i), close: () => this.setLock(-1) }) : null;
    if (view.large) this.locked = this.view.versions.indexOf(new URLSearchParams(location.search).get("at") ?? "");
    this.drawWhenSeen();
    for (const box of this.boxes) this.listen(box);
    document.addEventListener("click", (e) => this.followLink(e));
    addEventListener("popstate", () => this.restore());
  }

  /** Draws all charts again, in the current width and theme; with all set also those that were not seen yet. */
  redraw(all = false): void {
    for (const box of this.boxes) if (all || box.chart) this.draw(box);
  }

  /** Handles a key of the page; true if it meant something here. */
  key(key: string): boolean {
    const at = this.locked >= 0 ? this.locked : this.cursor;
    switch (key) {
      case "b":
        if (at >= 0) this.makeBase(at);
        else document.querySelector<HTMLElement>(".f.base > summary")?.click();
        return true;
      case "r": {
        const link = this.lock?.runLink();
        if (link) link.click();
        return link !== null && link !== undefined;
      }
      case "o":
      case "n":
      case "c": {
        const link = key === "o" ? this.lock?.changeLink() : key === "n" ? this.lock?.noteLink() : this.lock?.compareLink();
        if (link) link.click();
        return link !== null && link !== undefined;
      }
      case "Escape":
        if (this.locked < 0) return false;
        this.setLock(-1);
        return true;
    }
    return false;
  }

  /** The full address of the view, with everything that the server chose spelled out. */
  address(): string {
    const copy = document.querySelector<HTMLAnchorElement>("[data-copy]");
    const to = new URL(copy?.href ?? location.href);
    to.search = withKeys(to.search, { at: this.locked >= 0 ? (this.view.versions[this.locked] ?? null) : null });
    return to.href;
  }

  private divideAll(): void {
    for (const box of this.boxes) box.ratios = box.figure.lines.map((l) => divide(box.figure, l, this.base, this.view.versions));
  }

  /** The positions of all charts where these share a scale; a few far ones are left to the arrows at its edge. */
  private common(): readonly number[] | null {
    if (!this.view.common) return null;
    const farthest = Math.log(2);
    return this.boxes.flatMap((b) => b.ratios).flat().flatMap((r) => (r.relative !== null && r.relative > 0 ? [Math.max(-farthest, Math.min(farthest, Math.log(r.relative)))] : []));
  }

  private drawWhenSeen(): void {
    const seen = new IntersectionObserver(
      (entries) => {
        for (const e of entries) {
          const box = this.boxes.find((b) => b.at === e.target);
          if (!e.isIntersecting || !box) continue;
          seen.unobserve(e.target);
          this.draw(box);
        }
      },
      { rootMargin: "400px 0px" },
    );
    const sizes = new Map<Element, string>();
    const resized = new ResizeObserver((entries) => {
      for (const e of entries) {
        const size = `${e.contentRect.width}x${e.contentRect.height}`;
        const box = this.boxes.find((b) => b.at === e.target);
        if (box?.chart && sizes.get(e.target) !== size) {
          box.chart.resize();
          this.draw(box);
        }
        sizes.set(e.target, size);
      }
    });
    for (const box of this.boxes) {
      seen.observe(box.at);
      resized.observe(box.at);
    }
  }

  private draw(box: Box): void {
    if (!box.chart) {
      box.chart = init(box.at, null, { renderer: "canvas", devicePixelRatio: Math.max(2, devicePixelRatio || 1) });
      box.chart.group = group;
      connect(group);
      this.follow(box, box.chart);
    }
    const option = drawComparison(
      { view: this.view, figure: box.figure, ratios: box.ratios, width: box.at.clientWidth, height: box.at.clientHeight, locked: this.locked, setting: this.setting, common: this.common() },
      tokens(),
    );
    const token = tokens();
    Object.assign(option["tooltip"] as object, {
      backgroundColor: token("--raise"), borderColor: token("--line-3"), borderWidth: 1, padding: [8, 10], transitionDuration: 0,
      extraCssText: "box-shadow:var(--shadow);border-radius:4px", textStyle: { color: token("--ink"), fontSize: 12, fontFamily: token("--sans") },
      formatter: (p: unknown) => (this.locked >= 0 ? "" : (tipFor(this.view, this.base, box.figure, box.ratios, indexOf(p), this.setting) ?? "")),
    });
    box.chart.setOption(option, true);
    if (this.locked >= 0 && this.lock) this.placeLock(box);
  }

  /** Cross-hair: the heading of a small chart is its read-out. */
  private follow(box: Box, chart: ECharts): void {
    const out = box.host.querySelector("[data-read-out]");
    chart.on("updateAxisPointer", (e) => {
      const axes = (e as { axesInfo?: { value: number }[] }).axesInfo;
      const value = axes?.[0]?.value;
      this.cursor = value === undefined ? -1 : Math.round(value);
      if (out) this.readOut(box, out, this.cursor);
    });
    chart.on("globalout", () => this.leave());
    chart.getZr().on("click", (e) => {
      const i = this.versionAt(box, e.offsetX);
      if (i < 0) return;
      if ((e.event as unknown as MouseEvent).shiftKey) this.makeBase(i);
      else if (this.view.large) this.setLock(this.locked === i ? -1 : i);
      else this.open(box, i);
    });
  }

  private versionAt(box: Box, x: number): number {
    const at = box.chart?.convertFromPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [x, 0]) as number[] | undefined;
    const i = Math.round(at?.[0] ?? -1);
    return i >= 0 && i < this.view.versions.length ? i : -1;
  }

  /** The page of a small chart's step, at a version. */
  private open(box: Box, i: number): void {
    const link = box.host.querySelector<HTMLAnchorElement>("h3 a");
    if (!link) return;
    const to = new URL(link.href);
    to.search = withKeys(to.search, { at: this.view.versions[i] ?? null });
    location.assign(to.href);
  }

  private readOut(box: Box, out: Element, i: number): void {
    const version = this.view.versions[i];
    if (version === undefined) {
      out.classList.remove("on");
      out.textContent = this.resting(box);
      return;
    }
    const parts = [words.element("span", version)];
    for (const [k, line] of box.figure.lines.entries()) {
      const r = box.ratios[k]?.[i];
      if (!r || valueAt(line, i) === null) continue;
      const v = words.verdictAt(line, i, r, this.view);
      const name = line.name === "" ? "" : `${line.name.replace("clang+LTO", "+LTO")} `;
      parts.push(words.element("span", name + words.ratioText(r, v), words.classes[v]));
      if (line.name === "") parts.push(words.element("span", words.intervalText(r)));
    }
    if (parts.length === 1) parts.push(words.element("span", "not measured"));
    for (const n of notesAt(box.figure, i)) {
      const note = words.element("span", `note ${n.n}`);
      note.append(words.element("span", `: ${n.text}`, "sr"));
      parts.push(note);
    }
    out.classList.add("on");
    out.replaceChildren(...parts);
  }

  private resting(box: Box): string {
    const one = words.oneText(box.figure, this.base, this.view, box.ratios, format.short);
    const line = box.figure.lines[0];
    return one || (line ? whyNot(box.figure, line, this.base, this.view.versions, box.ratios[0] ?? []) : "");
  }

  private leave(): void {
    this.cursor = -1;
    for (const box of this.boxes) {
      box.chart?.dispatchAction({ type: "updateAxisPointer", currTrigger: "leave" }, { silent: true });
      const out = box.host.querySelector("[data-read-out]");
      if (out) this.readOut(box, out, -1);
    }
  }

  /** A focused chart: arrows, Home and End move the cross-hair, Enter locks or opens, Escape leaves. */
  private listen(box: Box): void {
    const last = this.view.versions.length - 1;
    box.at.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      let i = this.locked >= 0 ? this.locked : this.cursor;
      switch (e.key) {
        case "ArrowLeft":
          i = i < 0 ? last : this.measured(box, i, -1);
          break;
        case "ArrowRight":
          i = i < 0 ? this.measured(box, -1, 1) : this.measured(box, i, 1);
          break;
        case "Home":
          i = this.measured(box, -1, 1);
          break;
        case "End":
          i = this.measured(box, last + 1, -1);
          break;
        case "Enter":
          if (this.cursor >= 0) {
            e.preventDefault();
            if (this.view.large) this.setLock(this.cursor);
            else this.open(box, this.cursor);
          }
          return;
        case "Escape":
          if (this.locked < 0) {
            box.chart?.dispatchAction({ type: "hideTip" });
            this.leave();
          }
          return;
        default:
          return;
      }
      e.preventDefault();
      if (this.locked >= 0) this.setLock(i);
      else this.point(box, i);
    });
  }

  /** The next version in a direction at which a figure has a point; where there is none the version itself. */
  private measured(box: Box, from: number, step: number): number {
    for (let i = from + step; i >= 0 && i < this.view.versions.length; i += step) {
      if (box.figure.lines.some((l) => valueAt(l, i) !== null)) return i;
    }
    return Math.max(0, Math.min(this.view.versions.length - 1, from));
  }

  private point(box: Box, i: number): void {
    const k = box.figure.lines.findIndex((_, j) => box.ratios[j]?.[i]?.relative);
    if (k < 0 || !box.chart) {
      this.cursor = i;
      const out = box.host.querySelector("[data-read-out]");
      if (out) this.readOut(box, out, i);
      return;
    }
    // A point outside of the scale has no place of its own: the middle of the plot above or below it serves.
    const ratio = box.ratios[k]?.[i]?.relative ?? 1;
    const at = box.chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [i, Math.log(ratio)]) as number[];
    if (box.chart.containPixel({ gridIndex: 0 }, at)) box.chart.dispatchAction({ type: "showTip", seriesIndex: k, dataIndex: i });
    else box.chart.dispatchAction({ type: "showTip", x: at[0], y: box.at.clientHeight / 2 });
  }

  private setLock(i: number): void {
    if (!this.lock) return;
    this.locked = i;
    const box = this.boxes[0];
    if (!box) return;
    box.chart?.dispatchAction({ type: "hideTip" });
    this.draw(box);
    if (i < 0) this.lock.hide();
    markRow(document.querySelectorAll("table[data-figures]"), this.view, box.figure, i);
    if (!this.view.frozen) history.replaceState(history.state, "", location.pathname + withKeys(location.search, { at: i >= 0 ? (this.view.versions[i] ?? null) : null }) + location.hash);
  }

  private placeLock(box: Box): void {
    if (!this.lock || !box.chart) return;
    const y = box.ratios.map((r) => r[this.locked]?.relative ?? null).find((r) => r !== null && r > 0);
    const at = box.chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [this.locked, y ? Math.log(y) : 0]) as number[];
    this.lock.show(this.view, this.base, box.figure, box.ratios, this.locked, at[0] ?? 0, this.setting);
  }

  private makeBase(i: number): void {
    const version = this.view.versions[i];
    if (version === undefined) return;
    const base = { ...this.base, version };
    if (!this.view.served) this.rebase(base, true);
    else if (!this.view.frozen && !document.querySelector(".f.base.plain")) location.assign(location.pathname + withKeys(location.search, { ...baseKeys(base, this.view.autoBase), at: null }));
  }

  /** Divides by another base; false where only the server can. */
  private rebase(base: Base, commit: boolean): boolean {
    if (this.view.served || !canDivide(this.boxes.map((b) => b.figure), base, this.view.versions)) return false;
    if (sameBase(base, this.base)) return true;
    this.base = base;
    this.divideAll();
    if (commit && !this.view.frozen) history.pushState(null, "", location.pathname + withKeys(location.search, baseKeys(base, this.view.autoBase)) + location.hash);
    this.redraw();
    this.rewrite();
    return true;
  }

  /** Back and Forward: a base is divided by here; anything else is the server's. */
  private restore(): void {
    if (this.view.frozen) return;
    this.mark(settingOf(this.view, new URLSearchParams(location.search).get("sensitivity") ?? "default"));
    const base = baseOf(location.search, this.view.autoBase);
    if (rest(location.search) !== this.rest || !this.rebase(base, false)) {
      location.reload();
      return;
    }
    const locked = this.view.versions.indexOf(new URLSearchParams(location.search).get("at") ?? "");
    const box = this.boxes[0];
    if (this.lock && box && locked !== this.locked) {
      this.locked = locked;
      this.redraw();
      if (locked < 0) this.lock.hide();
      markRow(document.querySelectorAll("table[data-figures]"), this.view, box.figure, locked);
    }
  }

  private readonly rest = rest(location.search);

  /** A link that only changes the base is followed here. */
  private followLink(e: MouseEvent): void {
    const link = (e.target as Element | null)?.closest<HTMLAnchorElement>("a[data-to-base], a[data-sensitivity]");
    if (!link || this.view.served || e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const sensitivity = link.dataset["sensitivity"];
    if (sensitivity !== undefined) {
      if ((this.view.settings ?? []).length === 0) return;
      e.preventDefault();
      this.mark(settingOf(this.view, sensitivity));
      if (!this.view.frozen) history.pushState(null, "", location.pathname + withKeys(location.search, { sensitivity: sensitivity === "default" ? null : sensitivity }) + location.hash);
      return;
    }
    if (!this.rebase(baseOf(link.search, this.view.autoBase), true)) return;
    e.preventDefault();
    link.closest("details")?.removeAttribute("open");
  }

  /** Marks the changes of a sensitivity, in charts and in the list. */
  private mark(setting: number): void {
    if (setting < 0 || setting === this.setting) return;
    this.setting = setting;
    const chosen = this.view.settings?.[setting];
    let [steps, spikes] = [0, 0];
    document.querySelectorAll<HTMLElement>("[data-change]").forEach((row) => {
      row.hidden = Number(row.dataset["from"]) > setting;
      if (row.hidden) return;
      if (row.hasAttribute("data-spike")) spikes++;
      else steps++;
    });
    document.querySelectorAll("[data-marked]").forEach((e) => (e.textContent = markedText(steps, spikes, chosen?.expected ?? "")));
    const value = chosen?.name === "default" ? null : (chosen?.name ?? null);
    document.querySelectorAll<HTMLAnchorElement>("a[data-sensitivity]").forEach((a) => {
      if (a.dataset["sensitivity"] === chosen?.name) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    });
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-view]:not([data-sensitivity]), a[data-copy]")) {
      if (!link.pathname.startsWith("/api/")) link.search = withKeys(link.search, { sensitivity: value });
    }
    this.redraw();
  }

  /** Everything on the page that names the base or was divided by it. */
  private rewrite(): void {
    const { base, view } = this;
    document.querySelectorAll("[data-base-name]").forEach((e) => (e.textContent = words.baseText(base)));
    for (const box of this.boxes) {
      const section = box.host.classList.contains("fig") ? box.host : document;
      const out = box.host.querySelector("[data-read-out]");
      if (out) this.readOut(box, out, -1);
      const whys = box.figure.lines.map((l, i) => whyNot(box.figure, l, base, view.versions, box.ratios[i] ?? []));
      section.querySelectorAll<HTMLElement>("[data-role]").forEach((e) => {
        const i = Number(e.dataset["line"] ?? 0);
        const line = box.figure.lines[i];
        if (!line) return;
        switch (e.dataset["role"]) {
          case "now":
            words.put(e, words.nowParts(line, base, view, box.ratios[i] ?? [], whys[i] ?? ""));
            break;
          case "one":
            e.textContent = words.oneText(box.figure, base, view, box.ratios, format.full) || (whys[0] ?? "");
            break;
          case "without":
            e.textContent = whys[i] ? `${line.name ? line.name + ": " : ""}${whys[i]}` : `${line.name ? line.name + " " : ""}has this base`;
            break;
          case "note":
            e.textContent = words.intervalNote(box.ratios[0] ?? []);
            break;
        }
      });
      fillTable(section.querySelectorAll("table[data-figures]"), view, box.figure, box.ratios);
      box.at.setAttribute("aria-label", words.label(box.figure, base, view, box.ratios));
    }
    const address = document.querySelector(".foot .url");
    if (address) address.textContent = location.pathname + location.search;
    const lead = document.querySelector("[data-lead]");
    if (lead && this.boxes.every((b) => b.figure.lines.length === 1)) {
      const last = view.versions.length - 1;
      const verdicts = this.boxes.map((b) => {
        const [line, r] = [b.figure.lines[0], b.ratios[0]?.[last]];
        return line && r && valueAt(line, last) !== null ? words.verdictAt(line, last, r, view) : "";
      });
      words.put(lead, words.leadParts(base, view.versions[last] ?? "", verdicts));
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-view], a[data-copy]")) {
      const spelledOut = link.hasAttribute("data-copy") || link.pathname.startsWith("/api/");
      link.search = withKeys(link.search, baseKeys(base, view.autoBase, spelledOut));
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".f.base a[data-to-base]")) {
      const own = baseOf(link.search, view.autoBase);
      // The same version in the menu, whatever the build; the same build, whatever the version.
      const current = own.version === base.version && own.compiler === base.compiler && own.config === base.config;
      if (current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}

function indexOf(p: unknown): number {
  const first = (Array.isArray(p) ? p[0] : p) as { axisValue?: number } | undefined;
  return Math.round(first?.axisValue ?? -1);
}
