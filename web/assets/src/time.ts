// Charts of a figure over the seconds of a step.

import { init, type ECharts } from "./echarts.ts";
import * as format from "./format.ts";
import { read, type TimeFigure } from "./spec.ts";
import { resolve, tokens } from "./theme.ts";
import { element } from "./words.ts";

/** Draws all such charts of the page when they come into view; gives a function that draws them again, all of them or those seen. */
export function drawTimes(): (all: boolean) => void {
  const drawn = new Map<HTMLElement, { chart: ECharts; figure: TimeFigure }>();
  const draw = (at: HTMLElement) => {
    let known = drawn.get(at);
    if (!known) {
      const figure = read<TimeFigure>(at.dataset["chart"] ?? "");
      if (!figure) return;
      known = { figure, chart: init(at, null, { renderer: "canvas", devicePixelRatio: Math.max(2, devicePixelRatio || 1) }) };
      drawn.set(at, known);
    }
    const token = tokens();
    const { figure } = known;
    const option = resolve(figure.option, token) as Record<string, Record<string, unknown>>;
    const font = { fontFamily: token("--sans") };
    Object.assign(option["yAxis"]?.["axisLabel"] as object, { formatter: (v: number) => format.short(v), ...font });
    Object.assign(option["xAxis"]?.["axisLabel"] as object, { formatter: (v: number) => `${Math.round(v)} s`, ...font });
    Object.assign(option["tooltip"] as object, {
      backgroundColor: token("--raise"), borderColor: token("--line-3"), borderWidth: 1, padding: [8, 10], transitionDuration: 0,
      textStyle: { color: token("--ink"), fontSize: 12, ...font },
      formatter: (p: unknown) => {
        const first = (Array.isArray(p) ? p[0] : p) as { value?: (number | null)[] } | undefined;
        const [second, value] = first?.value ?? [];
        const tip = element("div", "", "tip");
        const dl = element("dl");
        dl.append(element("dt", `${second ?? ""} s`), element("dd", value === null || value === undefined ? format.missing : format.full(value) + format.unitSuffix(figure.unit)));
        tip.append(dl);
        return tip;
      },
    });
    known.chart.setOption(option, true);
  };
  const all = [...document.querySelectorAll<HTMLElement>("[data-time]")];
  const seen = new IntersectionObserver(
    (entries) => {
      for (const e of entries) {
        if (!e.isIntersecting) continue;
        seen.unobserve(e.target);
        draw(e.target as HTMLElement);
      }
    },
    { rootMargin: "400px 0px" },
  );
  const resized = new ResizeObserver((entries) => entries.forEach((e) => drawn.get(e.target as HTMLElement)?.chart.resize()));
  for (const at of all) {
    seen.observe(at);
    resized.observe(at);
  }
  return (every) => (every ? all : [...drawn.keys()]).forEach(draw);
}
