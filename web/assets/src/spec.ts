// What the server sends with a page of charts (web/chart): the view once, a figure per chart.

import type { Direction } from "./ratio.ts";

/** The point that is 1.00. Without a version every point is divided by the compiler's or config's own. */
export interface Base {
  readonly version: string;
  readonly compiler: string;
  readonly config: string;
}

export interface Metric {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly direction: Direction;
}

export interface View {
  readonly versions: readonly string[];
  readonly majors: readonly { readonly at: number; readonly name: string }[];
  readonly metric: Metric;
  readonly base: Base;
  /** The base if the address names none. */
  readonly autoBase: string;
  readonly fit: boolean;
  readonly large: boolean;
  /** The sensitivities, the strictest first, and the one whose changes are marked. */
  readonly sensitivity?: string;
  readonly settings?: readonly { readonly name: string; readonly expected: string }[];
  /** Another base is the server's to divide by: the page holds more than charts and their tables. */
  readonly served?: boolean;
  /** The page is a snapshot: its address says nothing about what it shows. */
  readonly frozen?: boolean;
  /** The chart is about levels: without the band of what cannot be told from 1.00. */
  readonly levels?: boolean;
  /** All charts have one scale that follows the data. */
  readonly common?: boolean;
  /** What the options of all charts have alike, and the markLine of their first series. */
  readonly option?: Record<string, unknown>;
  readonly rules?: unknown;
}

/** A change between two versions. */
export interface ChangeMark {
  /** Index of the figure's line. */
  readonly line: number;
  /** The first version after it; of a spike `back` is the first one after its end, else -1. */
  readonly at: number;
  readonly back: number;
  /** ln of the ratio. */
  readonly effect: number;
  /** Index of the strictest setting that marks it. */
  readonly from: number;
  readonly text: string;
  readonly href?: string;
}

/** A note on a version, or on versions up to another one. */
export interface NoteMark {
  readonly at: number;
  readonly to: number;
  readonly n: number;
  readonly text: string;
  readonly href?: string;
}

/** The look of a line: the name of a CSS custom property, lengths of strokes and gaps, a marker. Empty: by verdict. */
export interface Style {
  readonly colour?: string;
  readonly dash?: readonly number[];
  readonly marker?: string;
}

/** One line of a figure. Arrays have one entry per version of the view; a single number stands for all of them. */
export interface Line {
  /** What tells it from the other lines of the figure. */
  readonly name: string;
  readonly style: Style;
  readonly server: string;
  readonly workload: string;
  readonly compiler: string;
  readonly config: string;
  readonly clients: number;
  /** Medians; null where nothing was measured. */
  readonly value: readonly (number | null)[];
  /** Samples counted. */
  readonly n: number | readonly number[];
  /** Squared standard error of ln(value). */
  readonly se2: number | readonly (number | null)[] | null;
  /** Turns a standard error into the half width of an interval; 0 when the noise is unknown. */
  readonly multiplier: number;
  /** By version index: how far the mean of ln of several samples lies above ln of their median. */
  readonly shift?: Readonly<Record<string, number>>;
  /** Versions (by index) whose figures must not be compared. */
  readonly flagged?: readonly number[];
  /** Versions (by index) whose samples come from different builds. */
  readonly mixed?: readonly number[];
  /** Versions (by index) whose samples fall into two groups. */
  readonly bimodal?: readonly number[];
  /** Where another step of the family begins, and its name. */
  readonly joins?: readonly (readonly [number, string])[];
  /** Why the base in the address gives no ratios. */
  readonly without?: string;
  /** Large chart only: runs and first start by version. */
  readonly runs?: readonly (number | readonly number[] | null)[];
  readonly started?: readonly (string | null)[];
  /** Least and greatest sample by version index, where there are several. */
  readonly spread?: Readonly<Record<string, readonly [number, number]>>;
  /** Ratios to a base that lies outside of what was sent. */
  readonly given?: {
    readonly base: Base;
    readonly relative: readonly (number | null)[];
    readonly low: readonly (number | null)[];
    readonly high: readonly (number | null)[];
  };
}

/** A chart: an ECharts option made by go-echarts whose series hold raw medians, and what dividing them needs. */
export interface Figure {
  readonly step: string;
  readonly title: string;
  readonly option: Record<string, unknown>;
  readonly lines: readonly Line[];
  readonly changes?: readonly ChangeMark[];
  readonly notes?: readonly NoteMark[];
}

/** A figure over the seconds of a step. */
export interface TimeFigure {
  readonly name: string;
  readonly unit: string;
  readonly option: Record<string, unknown>;
}

/** Reads a JSON block of the page; null when it is not there. */
export function read<T>(id: string): T | null {
  const block = document.getElementById(id);
  return block ? (JSON.parse(block.textContent ?? "") as T) : null;
}

/** Reads a figure of a view. */
export function readFigure(id: string, view: View): Figure | null {
  const sent = read<Figure>(id);
  return sent && whole(sent, view);
}

/** A figure with what stands once for all charts of its page, and with the medians, which are the data of the option's series, in the lines. */
export function whole(sent: Figure, view: Pick<View, "option" | "rules">): Figure {
  const series = (sent.option["series"] as { data?: readonly (number | null)[]; markLine?: unknown }[]).map((s, i) =>
    i === 0 && view.rules !== undefined && s.markLine === undefined ? { ...s, markLine: view.rules } : s,
  );
  return { ...sent, option: { ...view.option, ...sent.option, series }, lines: sent.lines.map((l, i) => ({ ...l, value: series[i]?.data ?? [] })) };
}
