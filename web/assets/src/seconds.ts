// Figures over the seconds of a step, several results above each other. The first view is in the page; closer ones are
// loaded from the API, buckets of fewer seconds, for all charts at once.

import { init, type ECharts } from "./echarts.ts";
import * as format from "./format.ts";
import { bucketAt, clampSpan, decode, panned, zoomed, type Span, type Wire } from "./span.ts";
import { read } from "./spec.ts";
import { resolve, tokens } from "./theme.ts";
import { element } from "./words.ts";

interface View {
  readonly step: string;
  readonly runs: readonly number[];
  readonly points: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly frozen?: boolean;
}

type WireLine = Wire & { readonly label: string; readonly arm: number; readonly run: number; readonly result: number; readonly name: string };

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly title: string;
  readonly log?: boolean;
  readonly option: Record<string, unknown>;
  lines: WireLine[];
}

interface Drawn {
  readonly at: HTMLElement;
  readonly chart: ECharts;
  readonly figure: Figure;
  lines: readonly { readonly label: string; readonly arm: number; readonly buckets: ReturnType<typeof decode> }[];
  cursor: number | null;
}

/** The most buckets of a line that are marked one by one. */
const marked = 60;

/** Where the plot begins within a chart, as its option has it. */
interface Grid {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Seconds {
  redraw(all: boolean): void;
}

export function startSeconds(say: (text: string) => void): Seconds | null {
  const view = read<View>("steps");
  return view ? new SecondsCharts(view, say) : null;
}

class SecondsCharts implements Seconds {
  private readonly drawn = new Map<HTMLElement, Drawn>();
  private readonly all = [...document.querySelectorAll<HTMLElement>("[data-seconds]")];
  private readonly hidden = new Set<number>();
  private readonly first: ReadonlyMap<string, WireLine[]>;
  private readonly figures = new Map<HTMLElement, Figure>();
  private readonly startSpan: Span;
  private span: Span;
  private asked = 0;

  constructor(
    private readonly view: View,
    private readonly say: (text: string) => void,
  ) {
    const first = new Map<string, WireLine[]>();
    for (const at of this.all) {
      const figure = read<Figure>(at.dataset["seconds"] ?? "");
      if (!figure) continue;
      this.figures.set(at, figure);
      first.set(figure.name, figure.lines);
    }
    this.first = first;
    this.startSpan = clampSpan({ from: view.from, to: view.to || view.end }, view.end);
    this.span = this.startSpan;
    const seen = new IntersectionObserver(
      (entries) => {
        for (const e of entries) {
          if (!e.isIntersecting) continue;
          seen.unobserve(e.target);
          this.draw(e.target as HTMLElement);
        }
      },
      { rootMargin: "400px 0px" },
    );
    const resized = new ResizeObserver((entries) => entries.forEach((e) => this.drawn.get(e.target as HTMLElement)?.chart.resize()));
    for (const at of this.all) {
      seen.observe(at);
      resized.observe(at);
      at.addEventListener("keydown", (e) => this.key(at, e));
      this.dragging(at);
    }
    document.querySelectorAll<HTMLElement>("[data-zoom-by]").forEach((b) =>
      b.addEventListener("click", () => this.zoomBy(b.dataset["zoomBy"] ?? "")),
    );
    document.querySelectorAll<HTMLElement>("[data-arm]").forEach((b) =>
      b.addEventListener("click", () => {
        const arm = Number(b.dataset["arm"]);
        if (!this.hidden.delete(arm)) this.hidden.add(arm);
        b.setAttribute("aria-pressed", String(!this.hidden.has(arm)));
        this.redraw(false);
      }),
    );
  }

  redraw(all: boolean): void {
    (all ? this.all : [...this.drawn.keys()]).forEach((at) => this.draw(at));
  }

  private draw(at: HTMLElement): void {
    const figure = this.figures.get(at);
    if (!figure) return;
    performance.mark("seconds-begin");
    let known = this.drawn.get(at);
    if (!known) {
      const chart = init(at, null, { renderer: "canvas", devicePixelRatio: Math.max(2, devicePixelRatio || 1) });
      known = { at, chart, figure, lines: [], cursor: null };
      this.drawn.set(at, known);
      // How long the first drawing took, for who measures it.
      const done = () => {
        chart.off("finished", done);
        performance.measure("seconds-drawn", "seconds-begin");
      };
      chart.on("finished", done);
    }
    known.lines = figure.lines.map((l) => ({ label: l.label, arm: l.arm, buckets: decode(l) }));
    known.chart.setOption(this.option(known), true);
  }

  private option(d: Drawn): Record<string, unknown> {
    const token = tokens();
    const option = resolve(d.figure.option, token) as Record<string, Record<string, unknown>>;
    const font = { fontFamily: token("--sans") };
    Object.assign(option["yAxis"]?.["axisLabel"] as object, { formatter: (v: number) => format.short(v), ...font });
    Object.assign(option["xAxis"] as object, { min: this.span.from, max: this.span.to });
    Object.assign(option["xAxis"]?.["axisLabel"] as object, { formatter: (v: number) => `${Math.round(v)} s`, ...font });
    Object.assign(option["tooltip"] as object, {
      backgroundColor: token("--raise"), borderColor: token("--line-3"), borderWidth: 1, padding: [8, 10], transitionDuration: 0,
      textStyle: { color: token("--ink"), fontSize: 12, ...font },
      formatter: (p: unknown) => {
        const at = (Array.isArray(p) ? p[0] : p) as { axisValue?: number; value?: number[] } | undefined;
        return this.tip(d, Number(at?.axisValue ?? at?.value?.[0] ?? 0));
      },
    });
    const series = option["series"] as unknown as { data: unknown }[];
    for (const [i, line] of d.lines.entries()) {
      const shown = !this.hidden.has(line.arm);
      const ranges: (number | null)[][] = [];
      const means: (number | null)[][] = [];
      for (const b of shown ? line.buckets : []) {
        means.push([b.middle, b.mean]);
        if (b.mean !== null && b.size > 1) ranges.push([b.middle, b.least], [b.middle, b.most], [b.middle, null]);
      }
      const range = series[2 * i];
      const mean = series[2 * i + 1];
      if (range) {
        range.data = ranges;
        // The strokes of neighbouring buckets touch, so that they read as a band.
        const plot = d.at.clientWidth - 68;
        const width = ((line.buckets[0]?.width ?? 1) * plot) / Math.max(1, this.span.to - this.span.from);
        Object.assign((range as { lineStyle?: object }).lineStyle ?? {}, { width: Math.max(1, Math.min(8, width)), cap: "butt" });
      }
      if (mean) {
        mean.data = means;
        // Of few buckets each shows: one between two gaps is no line.
        const colour = (mean as { lineStyle?: { color?: string } }).lineStyle?.color;
        Object.assign(mean, { showSymbol: means.length <= marked, symbolSize: 5, itemStyle: { color: colour } });
      }
    }
    return option;
  }

  private tip(d: Drawn, second: number): HTMLElement {
    const tip = element("div", "", "tip");
    const head = element("h4");
    const dl = element("dl", "", "three");
    let span = "";
    for (const line of d.lines) {
      if (this.hidden.has(line.arm)) continue;
      const b = bucketAt(line.buckets, second);
      if (b && !span) span = b.size > 1 ? `${format.full(b.start)} to ${format.full(b.end)} s` : `${format.full(b.end)} s`;
      const value = (v: number | null | undefined) => (v === null || v === undefined ? format.missing : format.full(v));
      dl.append(
        element("dt", line.label), element("dd", value(b?.mean) + (b?.mean === null || !b ? "" : format.unitSuffix(d.figure.unit))),
        element("dd", b && b.mean !== null && b.size > 1 ? `${value(b.least)} to ${value(b.most)}` : "", "mut"), element("dd"),
      );
    }
    head.append(span || `${Math.round(second)} s`, element("span", d.figure.title));
    tip.append(head, dl);
    return tip;
  }

  private grid(d: Drawn): Grid {
    return d.figure.option["grid"] as Grid;
  }

  /** The second under a place of a chart. */
  private secondAt(d: Drawn, x: number): number {
    const g = this.grid(d);
    const width = d.at.clientWidth - g.left - g.right;
    const part = Math.min(1, Math.max(0, (x - g.left) / Math.max(1, width)));
    return this.span.from + part * (this.span.to - this.span.from);
  }

  private dragging(at: HTMLElement): void {
    let begin: number | null = null;
    const box = element("div", "", "drag");
    box.hidden = true;
    const place = (e: PointerEvent) => e.clientX - at.getBoundingClientRect().left;
    at.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || !this.drawn.has(at)) return;
      begin = place(e);
    });
    at.addEventListener("pointermove", (e) => {
      if (begin === null) return;
      const d = this.drawn.get(at);
      const x = place(e);
      if (!d || Math.abs(x - begin) < 6) return;
      const g = this.grid(d);
      at.setPointerCapture(e.pointerId);
      if (!box.isConnected) at.append(box);
      const left = Math.max(g.left, Math.min(begin, x));
      const right = Math.min(at.clientWidth - g.right, Math.max(begin, x));
      Object.assign(box.style, { left: `${left}px`, width: `${Math.max(0, right - left)}px`, top: `${g.top}px`, bottom: `${g.bottom}px` });
      box.hidden = false;
    });
    const end = (e: PointerEvent, take: boolean) => {
      const from = begin;
      begin = null;
      const d = this.drawn.get(at);
      if (box.hidden || from === null || !d) return;
      box.hidden = true;
      const a = this.secondAt(d, from);
      const b = this.secondAt(d, place(e));
      if (take) this.show({ from: Math.min(a, b), to: Math.max(a, b) });
    };
    at.addEventListener("pointerup", (e) => end(e, true));
    at.addEventListener("pointercancel", (e) => end(e, false));
    at.addEventListener("dblclick", () => this.zoomBy("all"));
  }

  private key(at: HTMLElement, e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const d = this.drawn.get(at);
    if (!d) return;
    switch (e.key) {
      case "+":
      case "=":
        this.zoomBy("in", d.cursor);
        break;
      case "-":
        this.zoomBy("out", d.cursor);
        break;
      case "0":
        this.zoomBy("all");
        break;
      case "ArrowLeft":
      case "ArrowRight": {
        const back = e.key === "ArrowLeft";
        if (e.shiftKey) this.zoomBy(back ? "earlier" : "later");
        else this.move(d, back ? -1 : 1);
        break;
      }
      case "Home":
        this.move(d, -Infinity);
        break;
      case "End":
        this.move(d, Infinity);
        break;
      case "Escape":
        d.cursor = null;
        d.chart.dispatchAction({ type: "hideTip" });
        d.chart.dispatchAction({ type: "updateAxisPointer", currTrigger: "leave" });
        break;
      default:
        return;
    }
    e.preventDefault();
    e.stopPropagation();
  }

  /** Moves the cross-hair of a chart by buckets of its first line shown. */
  private move(d: Drawn, by: number): void {
    const index = d.lines.findIndex((l) => !this.hidden.has(l.arm));
    const line = d.lines[index];
    if (!line) return;
    const inside = line.buckets.map((b, i) => [i, b] as const).filter(([, b]) => b.middle >= this.span.from && b.middle <= this.span.to);
    if (inside.length === 0) return;
    let at = inside.findIndex(([, b]) => b.middle >= (d.cursor ?? -1));
    if (d.cursor === null) at = by > 0 ? 0 : inside.length - 1;
    else at = Math.max(0, Math.min(inside.length - 1, (at < 0 ? inside.length - 1 : at) + by));
    const to = inside[at];
    if (!to) return;
    d.cursor = to[1].middle;
    d.chart.dispatchAction({ type: "showTip", seriesIndex: 2 * index + 1, dataIndex: to[0] });
  }

  private zoomBy(how: string, around: number | null = null): void {
    switch (how) {
      case "in":
        return this.show(zoomed(this.span, 0.5, around));
      case "out":
        return this.show(zoomed(this.span, 2, around));
      case "earlier":
        return this.show(panned(this.span, -0.5, this.view.end));
      case "later":
        return this.show(panned(this.span, 0.5, this.view.end));
      default:
        return this.show({ from: 0, to: this.view.end });
    }
  }

  /** Shows a part of the seconds: at once with what is there, then as closely as the server has it. */
  private show(span: Span): void {
    const next = clampSpan(span, this.view.end);
    if (next.from === this.span.from && next.to === this.span.to) return;
    this.span = next;
    const whole = next.from <= 0 && next.to >= this.view.end;
    const words = whole ? `${format.full(this.view.end)} seconds` : `seconds ${next.from} to ${next.to} of ${this.view.end}`;
    document.querySelectorAll("[data-window]").forEach((e) => (e.textContent = words));
    this.redraw(false);
    const ask = ++this.asked;
    if (this.view.frozen) return;
    const address = new URL(location.href);
    for (const [key, value] of [["from", whole ? 0 : next.from], ["to", whole || next.to >= this.view.end ? 0 : next.to]] as const) {
      if (value > 0) address.searchParams.set(key, String(value));
      else address.searchParams.delete(key);
    }
    history.replaceState(null, "", address);
    document.querySelectorAll<HTMLAnchorElement>("[data-copy]").forEach((a) => (a.href = address.pathname + address.search));
    document.querySelectorAll<HTMLInputElement>("form[data-link] [name=url]").forEach((i) => (i.value = address.pathname + address.search));
    if (next.from === this.startSpan.from && next.to === this.startSpan.to) {
      for (const f of this.figures.values()) f.lines = this.first.get(f.name) ?? [];
      this.redraw(false);
      return;
    }
    void this.load(ask, next);
  }

  private async load(ask: number, span: Span): Promise<void> {
    const query = new URLSearchParams({ step: this.view.step, from: String(span.from), to: String(span.to), points: String(this.view.points) });
    this.view.runs.forEach((r) => query.append("run", String(r)));
    try {
      const r = await fetch(`/api/v1/seconds?${query}`);
      if (!r.ok) throw new Error(`status ${r.status}`);
      const answer = (await r.json()) as { series: WireLine[] };
      if (ask !== this.asked) return; // another part was asked for since
      for (const f of this.figures.values()) {
        f.lines = f.lines.map((l) => {
          const closer = answer.series.find((x) => x.name === f.name && x.run === l.run && x.result === l.result);
          return closer ? { ...closer, label: l.label, arm: l.arm } : l;
        });
      }
      document.documentElement.dataset["secondsShown"] = `${span.from}-${span.to}`;
      this.redraw(false);
    } catch (error) {
      this.say(`No closer look: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
