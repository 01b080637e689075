import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { interval, percent, ratio } from "./format.ts";
import { canDivide, divide, halfWidth, judge, whyNot, type Direction, type Ratio } from "./ratio.ts";
import type { Base, Figure, Line } from "./spec.ts";

interface Point { version: string; samples: number[]; flagged: boolean; value: number; n: number; m: number | null; se2: number | null }
interface Answer { relative: number; low: number | null; high: number | null; text: string; interval: string; percent: string; verdicts: string[] }
interface Case {
  name: string;
  lines: { compiler: string; multiplier: number; points: Point[] }[];
  bases: { version: string; compiler: string; lines: (Answer | null)[][] }[];
}

const vectors = JSON.parse(readFileSync(new URL("../../chart/testdata/ratios.json", import.meta.url), "utf8")) as { cases: Case[] };

/** The figure that the server would send for a case: one slot per version, null where a line has no point. */
function figureOf(c: Case): { figure: Figure; versions: string[] } {
  const versions = [...new Set(c.lines.flatMap((l) => l.points.map((p) => p.version)))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const lines = c.lines.map((l): Line => {
    const at = versions.map((v) => l.points.find((p) => p.version === v));
    return {
      name: l.compiler, style: {}, server: "s", workload: "w", compiler: l.compiler, config: "", clients: 1,
      shift: Object.fromEntries(at.flatMap((p, i) => (p && p.m !== null ? [[i, p.m - Math.log(p.value)]] : []))),
      value: at.map((p) => p?.value ?? null), n: at.map((p) => p?.n ?? 0), se2: at.map((p) => p?.se2 ?? null), multiplier: l.multiplier,
    };
  });
  return { figure: { step: "fillseq", title: "fillseq", option: {}, lines }, versions };
}

function near(got: number | null, want: number | null, what: string): void {
  if (got === null || want === null) assert.equal(got, want, what);
  else assert.ok(Math.abs(got - want) <= 1e-9 * Math.abs(want), `${what}: ${got}, want ${want}`);
}

for (const c of vectors.cases) {
  test(`rebase: ${c.name}`, () => {
    const { figure, versions } = figureOf(c);
    for (const b of c.bases) {
      const base: Base = { version: b.version, compiler: b.compiler, config: "" };
      for (const [k, line] of figure.lines.entries()) {
        const answers = b.lines[k] ?? [];
        const source = c.lines[k];
        assert.ok(source);
        const got = divide(figure, line, base, versions);
        const none = answers.every((a) => a === null);
        assert.equal(whyNot(figure, line, base, versions, got) !== "", none, `${c.name}: says why a line has no ratios`);
        for (const [j, p] of source.points.entries()) {
          const want = answers[j] ?? null;
          const what = `${c.name}, base ${b.version} ${b.compiler}, ${line.name} ${p.version}`;
          const r: Ratio | undefined = got[versions.indexOf(p.version)];
          assert.ok(r, what);
          near(r.relative, want?.relative ?? null, what);
          near(r.low, want?.low ?? null, what);
          near(r.high, want?.high ?? null, what);
          if (!want || r.relative === null) continue;
          assert.equal(ratio(r.relative, r.low, r.high), want.text, what);
          assert.equal(interval(r.low, r.high), want.interval, what);
          assert.equal(percent(r.relative), want.percent, what);
          const directions: Direction[] = ["higher", "lower", "neutral"];
          assert.deepEqual(directions.map((d) => judge(r, p.flagged, d)), want.verdicts, what);
        }
      }
    }
  });
}

test("ratios that the server sent are used for the base that they belong to, and for no other", () => {
  const base: Base = { version: "1.0", compiler: "", config: "" };
  const line: Line = {
    name: "", style: {}, server: "s", workload: "w", compiler: "gcc", config: "", clients: 1, value: [10, 20], n: 1, se2: null, multiplier: 0,
    given: { base, relative: [2, 4], low: [1.9, null], high: [2.1, null] },
  };
  const figure: Figure = { step: "x", title: "x", option: {}, lines: [line] };
  assert.deepEqual(divide(figure, line, base, ["2.0", "2.1"]), [
    { relative: 2, low: 1.9, high: 2.1 },
    { relative: 4, low: null, high: null },
  ]);
  assert.ok(divide(figure, line, { ...base, version: "1.1" }, ["2.0", "2.1"]).every((r) => r.relative === null));
  assert.equal(divide(figure, line, { ...base, version: "2.0" }, ["2.0", "2.1"])[1]?.relative, 2);

  const can = (b: Partial<Base>) => canDivide([figure], { version: "", compiler: "", config: "", ...b }, ["2.0", "2.1"]);
  assert.ok(can({ version: "1.0" }), "given");
  assert.ok(can({ version: "2.1" }), "on the axis");
  assert.ok(!can({ version: "1.1" }), "neither");
  assert.ok(!can({}), "no base at all");
  assert.ok(can({ compiler: "gcc" }), "at each version");
  assert.ok(!can({ version: "2.1", compiler: "clang" }), "a compiler that is not shown");
});

test("the half width of an interval in ln", () => {
  near(halfWidth({ relative: 1, low: Math.exp(-0.02), high: Math.exp(0.02) }), 0.02, "half width");
  assert.equal(halfWidth({ relative: 1, low: null, high: null }), null);
});
