import assert from "node:assert/strict";
import { test } from "node:test";

import { levels, marked, markedText, notesAt, settingOf } from "./marks.ts";
import type { ChangeMark, Figure, Line, View } from "./spec.ts";

const line = (value: (number | null)[], more: Partial<Line> = {}): Line => ({
  name: "", style: {}, server: "s", workload: "w", compiler: "gcc", config: "", clients: 1, value, n: 1, se2: 0.0001, multiplier: 2, ...more,
});
const over = (l: Line, base: number) => l.value.map((v) => ({ relative: v === null ? null : v / base, low: null, high: null }));
const mark = (at: number, from = 1, back = -1): ChangeMark => ({ line: 0, at, back, effect: -0.1, from, text: "" });
const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("levels are means of logarithms between lasting changes, with the interval of a mean", () => {
  const l = line([100, 110, 50, 60, 60]);
  const [a, b] = levels(l, [mark(2)], over(l, 100));
  assert.ok(a && b);
  assert.deepEqual([a.from, a.to, b.from, b.to], [0, 1, 2, 4]);
  near(a.position, (Math.log(1) + Math.log(1.1)) / 2);
  near(b.position, (Math.log(0.5) + 2 * Math.log(0.6)) / 3);
  near(a.half, 2 * Math.sqrt(0.0001 / 2));
  near(b.half, 2 * Math.sqrt(0.0001 / 3));
});

test("a spike, a gap and a flagged version are no part of a level", () => {
  const l = line([100, null, 20, 100, 1000], { flagged: [4] });
  const all = levels(l, [mark(2, 0, 3)], over(l, 100));
  assert.equal(all.length, 2);
  near(all[0]?.position ?? NaN, 0);
  assert.deepEqual([all[0]?.from, all[0]?.to], [0, 3]);
  // The spike has a level of its own.
  near(all[1]?.position ?? NaN, Math.log(0.2));
  assert.deepEqual([all[1]?.from, all[1]?.to], [2, 2]);
});

test("samples weigh as many times as they are", () => {
  const l = line([100, 200], { n: [3, 1], se2: [0.0001 / 3, 0.0001] });
  const [a] = levels(l, [], over(l, 100));
  near(a?.position ?? NaN, Math.log(2) / 4);
  near(a?.half ?? NaN, 2 * Math.sqrt(0.0001 / 4));
});

test("without one base or without noise there are no levels", () => {
  const l = line([100, 200]);
  assert.deepEqual(levels(l, [], [{ relative: 1, low: null, high: null }, { relative: 1, low: null, high: null }]), []);
  assert.deepEqual(levels(line([100, 200], { se2: null }), [], over(l, 100)), []);
});

test("a setting marks what the stricter ones mark too", () => {
  const view = { settings: [{ name: "strict", expected: "" }, { name: "default", expected: "" }, { name: "sensitive", expected: "" }], sensitivity: "default" } as unknown as View;
  const figure = { changes: [mark(1, 0), mark(2, 1), mark(3, 2)], notes: [{ at: 1, to: 2, n: 1, text: "x" }] } as unknown as Figure;
  const at = (name: string) => marked(figure, settingOf(view, name)).map((c) => c.at);
  assert.deepEqual([at("strict"), at("default"), at("sensitive"), at("unknown")], [[1], [1, 2], [1, 2, 3], [1, 2]]);
  assert.deepEqual([0, 1, 2, 3].map((i) => notesAt(figure, i).length), [0, 1, 1, 0]);
  assert.equal(markedText(1, 2, "at most 0.08"), "1 step and 2 spikes; at this setting at most 0.08 false ones are expected");
});
