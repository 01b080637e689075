// Turns a figure into the option of a chart of relative values: the server's option, divided by the base, in this width
// and theme.

import type { EChartsCoreOption } from "./echarts.ts";
import { stretches, type Placed, type Side } from "./colourstops.ts";
import * as format from "./format.ts";
import { levels, marked } from "./marks.ts";
import { countAt, halfWidth, judge, type Ratio, type Verdict } from "./ratio.ts";
import type { Figure, Line, View } from "./spec.ts";
import { resolve, type Tokens } from "./theme.ts";
import { fitWindow, labelled, pushApart, tickText, type Window } from "./window.ts";

type Item = Record<string, unknown>;

/** What a chart is drawn from besides the figure: ratios by line and version. */
export interface Drawing {
  readonly view: View;
  readonly figure: Figure;
  readonly ratios: readonly (readonly Ratio[])[];
  readonly width: number;
  readonly height: number;
  /** Index of the locked version, -1 for none. */
  readonly locked: number;
  /** Index of the sensitivity whose changes are marked. */
  readonly setting: number;
  /** Positions of all charts of the page, where they share a scale that follows the data. */
  readonly common?: readonly number[] | null;
}

/** Below this width a large chart does without interval bars and with fewer words. */
const narrowBelow = 520;

const crossPath = "path://M2,0L5,3L8,0L10,2L7,5L10,8L8,10L5,7L2,10L0,8L3,5L0,2Z";

export function drawComparison(d: Drawing, token: Tokens): EChartsCoreOption {
  const { view, figure } = d;
  const single = figure.lines.length === 1;
  const narrow = d.width < narrowBelow;
  const option = resolve(figure.option, token) as Item;
  const grid = option["grid"] as { left: number; right: number; top: number; bottom: number };
  const notes = figure.notes ?? [];
  if (view.large && notes.length > 0) grid.top = 44; // room for the ringed numbers
  const plot = { width: d.width - grid.left - grid.right, height: d.height - grid.top - grid.bottom };
  const count = view.versions.length;
  const perVersion = plot.width / Math.max(1, count);
  const xAxis = option["xAxis"] as Item;
  const yAxis = option["yAxis"] as Item;
  const positions = d.ratios.map((line) => line.map((r) => (r.relative !== null && r.relative > 0 ? Math.log(r.relative) : null)));

  const window = windowOf(d, yAxis, positions);
  Object.assign(yAxis, { min: window.low, max: window.high });
  (yAxis["axisTick"] as Item)["customValues"] = window.ticks;
  Object.assign(yAxis["axisLabel"] as Item, { customValues: window.ticks, formatter: tickText, fontFamily: token("--sans") });
  versionAxis(view, xAxis, perVersion, token);

  const server = option["series"] as Item[];
  const series: Item[] = [];
  const marks: Item[] = [...majorNames(view, perVersion, token), ...joints(d, token), ...((server[0]?.["markLine"] as Item | undefined)?.["data"] as Item[])];
  const changes = marked(figure, d.setting);
  if (view.large && !narrow) for (const c of changes) if (c.back < 0) marks.push({ xAxis: c.at - 0.5, lineStyle: { color: token(changeColour(view, c.effect)), width: 1, type: [3, 3] }, label: { show: false } });
  if (d.locked >= 0) marks.push({ xAxis: d.locked, lineStyle: { color: token("--ink"), width: 1, type: "solid" }, label: { show: false } });

  const y = (position: number) => Math.min(window.high, Math.max(window.low, position));
  const ends: { line: number; x: number; y: number; ratio: Ratio; verdict: Verdict }[] = [];
  const points: Item[] = [];
  const crosses: Item[] = [];
  const bars: (number | null)[][] = [];
  const arrows: Item[] = [];
  const labels: { x: number; top: boolean }[] = [];
  // Symbols at every point where there is room for them; a point without neighbours has no line and always gets one.
  const symbols = view.large || perVersion >= 9;

  figure.lines.forEach((line, i) => {
    const at = positions[i] ?? [];
    const ratios = d.ratios[i] ?? [];
    const colour = (v: Verdict) => (single ? token(verdictColour[v]) : token(line.style.colour ?? "--ink"));
    const of = (k: number): Verdict => judge(ratios[k] ?? { relative: null, low: null, high: null }, line.flagged?.includes(k) ?? false, view.metric.direction);
    const s: Item = { ...server[i], data: at.map((p, k) => [k, p]), clip: true, itemStyle: { color: single ? token("--ink") : colour("undecided") } };
    if (single) s["lineStyle"] = { ...(s["lineStyle"] as Item), color: gradient(d, line, positions[0] ?? [], grid.left, perVersion, token) };
    if (i === 0) s["markLine"] = { ...(server[0]?.["markLine"] as Item), data: marks };
    else delete s["markLine"];
    if (i === 0 && !view.levels) s["markArea"] = band(d, token);
    series.push(s);

    let last = -1;
    at.forEach((p, k) => {
      if (p === null) return;
      last = k;
      const v = of(k);
      const inside = p >= window.low && p <= window.high;
      if (line.flagged?.includes(k)) crosses.push({ value: [k, y(p)] });
      else if (inside && (symbols || ((at[k - 1] ?? null) === null && (at[k + 1] ?? null) === null))) {
        const hollow = countAt(line, k) === 1;
        points.push({
          value: [k, p], symbol: single ? "circle" : (line.style.marker ?? "circle"),
          itemStyle: { color: hollow ? token("--bg") : colour(v), borderColor: colour(v), borderWidth: 1.5, opacity: 1 },
        });
      }
      const half = halfWidth(ratios[k] ?? { relative: null, low: null, high: null });
      if (view.large && !narrow && figure.lines.length <= 2 && inside && half) bars.push([k, y(p - half)], [k, y(p + half)], [k, null]);
    });
    for (const a of outside(at, window)) {
      const top = a.position > window.high;
      const v = of(a.index);
      const near = labels.some((l) => l.top === top && Math.abs(l.x - a.index) * perVersion < (view.large && !narrow ? 96 : 34));
      if (!near) labels.push({ x: a.index, top });
      arrows.push({
        value: [a.index, top ? window.high : window.low], symbolRotate: top ? 0 : 180, symbolOffset: [0, top ? 7 : -7], itemStyle: { color: colour(v), opacity: 1 },
        label: {
          show: !near, position: a.index > count * 0.75 ? "left" : "right", distance: view.large ? 8 : 4, backgroundColor: token("--bg"), padding: [1, 2],
          formatter: format.fixed(Math.exp(a.position), 2) + (view.large && !narrow ? ` at ${view.versions[a.index] ?? ""}` : ""),
          color: single ? token(verdictInk[v]) : token(line.style.colour ?? "--ink"), fontSize: view.large ? 12 : 10, fontWeight: 600, fontFamily: token("--sans"),
        },
      });
    }
    const end = ratios[last];
    if (last >= 0 && end) ends.push({ line: i, x: last, y: y(at[last] ?? 0), ratio: end, verdict: of(last) });
  });

  // Scatter is translucent by default, its labels with it.
  const quiet = { itemStyle: { opacity: 1 }, silent: true, tooltip: { show: false }, emphasis: { disabled: true } };
  if (view.large && single) {
    const steps = levels(figure.lines[0] as Line, changes, d.ratios[0] ?? []);
    if (changes.length > 0) {
      series.push({
        type: "line", data: steps.flatMap((l) => [[l.from - 0.4, l.position], [l.to + 0.4, l.position], [l.to, null]]), showSymbol: false, clip: true, z: 5,
        lineStyle: { color: token("--ink"), width: 2, opacity: 0.9 }, ...quiet,
        markArea: {
          silent: true, itemStyle: { color: token("--line-2"), opacity: 0.55 }, z: 1,
          data: steps.filter((l) => l.half > 0 && l.position > window.low && l.position < window.high).map((l) => [{ coord: [l.from - 0.45, y(l.position - l.half)] }, { coord: [l.to + 0.45, y(l.position + l.half)] }]),
        },
      });
    }
  }
  if (bars.length > 0) series.push({ type: "line", data: bars, showSymbol: false, lineStyle: { color: token("--line-3"), width: 1, opacity: 0.45 }, z: 2, ...quiet });
  if (points.length > 0) series.push({ type: "scatter", data: points, symbolSize: view.large && !narrow ? 6 : 4, z: 16, ...quiet });
  if (crosses.length > 0) series.push({ type: "scatter", data: crosses, symbol: crossPath, symbolSize: view.large ? 9 : 7, z: 17, ...quiet, itemStyle: { color: token("--ink"), opacity: 1 } });
  if (arrows.length > 0) series.push({ type: "scatter", data: arrows, symbol: "triangle", symbolSize: view.large ? [11, 10] : [8, 7], clip: false, z: 18, ...quiet });
  if (ends.length > 0) series.push({ type: "scatter", data: endLabels(d, ends, window, plot.height, token), symbolSize: 0.1, clip: false, z: 19, ...quiet });
  const notches = changes.filter((c) => c.back < 0).map((c) => ({
    value: [c.at - 0.5, window.low], symbolRotate: c.effect < 0 ? 180 : 0, itemStyle: { color: token(changeColour(view, c.effect)), opacity: 1 },
  }));
  if (notches.length > 0) series.push({ type: "scatter", data: notches, symbol: "triangle", symbolSize: view.large ? [10, 8] : [7, 6], symbolOffset: [0, view.large ? 5 : 4], clip: false, z: 18, ...quiet });
  if (notes.length > 0) series.push(...noteMarks(d, window, token, quiet));
  if (d.locked >= 0) {
    const held = positions.map((p) => p[d.locked] ?? null).filter((p) => p !== null);
    series.push({ type: "scatter", data: held.map((p) => [d.locked, y(p)]), symbolSize: 10, z: 20, ...quiet, itemStyle: { color: token("--ink"), opacity: 1 } });
  }
  option["series"] = series;
  return option as EChartsCoreOption;
}

const verdictColour: Record<Verdict, string> = { better: "--better", worse: "--worse", undecided: "--undecided", moved: "--ink", "": "--ink-2" };
const verdictInk: Record<Verdict, string> = { better: "--better-ink", worse: "--worse-ink", undecided: "--ink-2", moved: "--ink", "": "--ink-2" };

/** The colour of a change: that of the better or the worse way. */
function changeColour(view: View, effect: number): string {
  if (view.metric.direction === "neutral") return "--ink";
  return effect > 0 === (view.metric.direction === "higher") ? "--better" : "--worse";
}

/** Notes stand above the plot: a dot, in a large chart a ringed number with a dotted rule; a range has a line. */
function noteMarks(d: Drawing, window: Window, token: Tokens, quiet: Item): Item[] {
  const { view } = d;
  const notes = d.figure.notes ?? [];
  const up = view.large ? -26 : -5;
  const out: Item[] = [{
    type: "scatter", clip: false, z: 19, symbol: "circle", symbolSize: view.large ? 17 : 7, symbolOffset: [0, up], ...quiet,
    data: notes.map((n) => ({
      value: [n.at, window.high], itemStyle: { color: token(view.large ? "--bg" : "--ink"), borderColor: token("--ink"), borderWidth: 1, opacity: 1 },
      label: { show: view.large, formatter: String(n.n), position: "inside", color: token("--ink"), fontSize: 11, fontWeight: 600, fontFamily: token("--sans") },
    })),
  }];
  const ranges = notes.filter((n) => n.to > n.at);
  if (ranges.length > 0) {
    out.push({ type: "line", clip: false, z: 3, showSymbol: false, lineStyle: { color: token("--line-3"), width: 3 }, ...quiet, data: ranges.flatMap((n) => [[n.at, window.high], [n.to, window.high], [n.to, null]]) });
  }
  if (view.large) {
    out.push({ type: "line", z: 1, showSymbol: false, lineStyle: { color: token("--line-3"), width: 1, type: [1, 3] }, ...quiet, data: notes.flatMap((n) => [[n.at, window.low], [n.at, window.high], [n.at, null]]) });
  }
  return out;
}

function windowOf(d: Drawing, yAxis: Item, positions: readonly (readonly (number | null)[])[]): Window {
  if (d.common) return fitWindow(d.common, d.view.large);
  if (d.view.fit) return fitWindow(positions.flat().filter((p) => p !== null), d.view.large);
  return { low: yAxis["min"] as number, high: yAxis["max"] as number, ticks: (yAxis["axisTick"] as Item)["customValues"] as number[] };
}

/** Small charts name majors, each in the middle of its range; large ones, and those of one major, name versions. */
function versionAxis(view: View, axis: Item, perVersion: number, token: Tokens): void {
  const names = new Map<number, string>();
  if (!view.large && view.majors.length > 1) {
    view.majors.forEach((m, i) => {
      const end = view.majors[i + 1]?.at ?? view.versions.length;
      // As wide as its name and a little air, or none: names must not touch.
      if (perVersion * (end - m.at) >= 18) names.set((m.at + end - 1) / 2, m.name);
    });
  } else {
    const widest = Math.max(4, ...view.versions.map((v) => v.length)) * 6 + 8;
    for (const i of labelled(view.versions.length, view.majors.map((m) => m.at), Math.max(1, Math.min(widest, 120) / perVersion))) names.set(i, view.versions[i] ?? "");
  }
  const values = [...names.keys()];
  Object.assign(axis["axisTick"] as Item, { customValues: values });
  Object.assign(axis["axisLabel"] as Item, { customValues: values, formatter: (v: number) => names.get(v) ?? "", fontFamily: token("--sans"), width: 120, overflow: "truncate" });
}

/** Names of majors above a large plot, at their boundaries. */
function majorNames(view: View, perVersion: number, token: Tokens): Item[] {
  if (!view.large) return [];
  return view.majors.flatMap((m, i) => {
    const end = view.majors[i + 1]?.at ?? view.versions.length;
    if (perVersion * (end - m.at) <= 26) return [];
    const label = { show: true, position: "end", align: "left", padding: [0, 0, 0, 4], distance: 4, formatter: () => m.name, color: token("--ink-2"), fontSize: 12, fontWeight: 600, fontFamily: token("--sans") };
    return [{ xAxis: m.at - 0.5, lineStyle: { color: "transparent" }, label }];
  });
}

/** Where another step of a family begins: a dotted rule. */
function joints(d: Drawing, token: Tokens): Item[] {
  const seen = new Set<number>();
  for (const line of d.figure.lines) for (const [at] of line.joins ?? []) seen.add(at);
  return [...seen].map((at) => ({ xAxis: at - 0.5, lineStyle: { color: token("--ink-2"), width: 1, type: [1, 3] }, label: { show: false } }));
}

/** The band of what cannot be told from 1.00: of a single line as wide as each point's interval, of several the widest. */
function band(d: Drawing, token: Tokens): Item {
  const areas: { from: number; to: number; half: number }[] = [];
  const all = d.ratios.map((line) => line.map((r) => halfWidth(r) ?? 0));
  if (all.length === 1) {
    const halves = all[0] ?? [];
    const measured = halves.map((h, i) => ({ h, i })).filter(({ h }) => h > 0);
    for (const { h, i } of measured) {
      const last = areas.at(-1);
      // Versions that were not measured, and the base itself, continue what is around them.
      if (last && Math.abs(last.half - h) < 1e-9) last.to = i + 0.5;
      else areas.push({ from: last ? last.to : -0.5, to: i + 0.5, half: h });
    }
    const last = areas.at(-1);
    if (last) last.to = d.view.versions.length - 0.5;
  } else {
    const half = Math.max(0, ...all.flat());
    if (half > 0) areas.push({ from: -0.5, to: d.view.versions.length - 0.5, half });
  }
  return { silent: true, itemStyle: { color: token("--band") }, z: 0, data: areas.map((a) => [{ coord: [a.from, -a.half] }, { coord: [a.to, a.half] }]) };
}

/** The colours along a single line, as a gradient in pixels of the chart. */
function gradient(d: Drawing, line: Line, positions: readonly (number | null)[], left: number, perVersion: number, token: Tokens): unknown {
  const placed: Placed[] = [];
  positions.forEach((y, k) => {
    if (y === null) return;
    const flagged = line.flagged?.includes(k) ?? false;
    placed.push({ x: left + (k + 0.5) * perVersion, y, half: flagged ? null : halfWidth(d.ratios[0]?.[k] ?? { relative: null, low: null, high: null }) });
  });
  const known = placed.some((p) => p.half !== null);
  const direction = d.view.metric.direction;
  const colour = (side: Side): string => {
    if (!known) return token("--ink-2");
    if (side === 0) return token("--undecided");
    if (direction === "neutral") return token("--ink");
    return token(side > 0 === (direction === "higher") ? "--better" : "--worse");
  };
  const pieces = stretches(placed);
  const from = pieces[0]?.from ?? 0;
  const width = (pieces.at(-1)?.to ?? 0) - from;
  if (width <= 0) return colour(pieces[0]?.side ?? 0);
  return {
    type: "linear", x: from, y: 0, x2: from + width, y2: 0, global: true,
    colorStops: pieces.flatMap((p) => [
      { offset: Math.max(0, (p.from - from) / width), color: colour(p.side) },
      { offset: Math.min(1, (p.to - from) / width), color: colour(p.side) },
    ]),
  };
}

/** The farthest point of every run of points outside of the window. */
function outside(positions: readonly (number | null)[], window: Window): { index: number; position: number }[] {
  const out: { index: number; position: number }[] = [];
  let run = 0; // 1 above, -1 below, 0 inside
  positions.forEach((p, index) => {
    if (p === null) return;
    const side = p > window.high ? 1 : p < window.low ? -1 : 0;
    const last = out.at(-1);
    if (side !== 0 && side === run && last) {
      if (Math.abs(p) > Math.abs(last.position)) out[out.length - 1] = { index, position: p };
    } else if (side !== 0) out.push({ index, position: p });
    run = side;
  });
  return out;
}

/** Value, and with several lines the name, at the end of each line; labels are pushed apart. */
function endLabels(d: Drawing, ends: readonly { line: number; x: number; y: number; ratio: Ratio; verdict: Verdict }[], window: Window, height: number, token: Tokens): Item[] {
  const { view, figure } = d;
  const single = figure.lines.length === 1;
  const size = single && view.large ? 14 : single || view.large ? 12 : 11;
  const perPixel = (window.high - window.low) / Math.max(1, height);
  const want = ends.map((e) => (window.high - e.y) / perPixel);
  const got = pushApart(want, size + 3);
  if (ends.length * (size + 3) > height + 20) return []; // no room: the legend names them
  const distance = view.large ? 8 : 4;
  const room = (figure.option["grid"] as { right: number }).right - distance;
  const font = `600 ${size}px ${token("--sans")}`;
  return ends.map((e, i) => {
    const line = figure.lines[e.line];
    const r = e.ratio.relative ?? 1;
    const value = format.fixed(r, 2);
    return {
      // At the edge of the plot, clear of its rules; a line that ends earlier has its label where it ends.
      value: [e.x === view.versions.length - 1 ? e.x + 0.5 : e.x, e.y],
      label: {
        show: true, position: "right", distance, offset: [0, (got[i] ?? 0) - (want[i] ?? 0)],
        formatter: () => (single ? value : fitText(value + " ", line?.name ?? "", room, font)),
        color: single ? token(verdictInk[e.verdict]) : token(line?.style.colour ?? "--ink"), fontSize: size, fontWeight: 600, fontFamily: token("--sans"),
        ...(e.x === view.versions.length - 1 ? {} : { backgroundColor: token("--bg"), padding: [1, 2] }),
      },
    };
  });
}

const ruler = document.createElement("canvas").getContext("2d");

/** A value and as much of a name as there is room for. */
function fitText(value: string, name: string, room: number, font: string): string {
  const letters = [...name.replace("clang+LTO", "+LTO")];
  const wide = (s: string) => {
    if (!ruler) return 0;
    ruler.font = font;
    return ruler.measureText(s).width;
  };
  for (let n = letters.length; n > 0; n--) {
    const text = value + (n === letters.length ? letters.join("") : letters.slice(0, n).join("") + "…");
    if (wide(text) <= room) return text;
  }
  return value.trimEnd();
}
