import assert from "node:assert/strict";
import { test } from "node:test";
import { fitWindow, labelled, pushApart, tickText } from "./window.ts";

test("a fitted window holds all positions and 1.00, with round ratios as ticks", () => {
  const w = fitWindow([Math.log(0.82), Math.log(1.03)], true);
  assert.ok(w.low < Math.log(0.82) && w.high > Math.log(1.03));
  assert.ok(w.ticks.some((t) => Math.abs(t) < 1e-12), "1.00 has a tick");
  assert.ok(w.ticks.length <= 8);
  assert.deepEqual(w.ticks.map(tickText), ["0.78", "0.82", "0.86", "0.91", "0.95", "1.00", "1.05"]);
});

test("a fitted window is symmetric in its steps and copes with anything", () => {
  assert.deepEqual(fitWindow([], false).ticks.map(tickText), ["0.99", "1.00", "1.01"]);
  const wide = fitWindow([Math.log(64)], false);
  assert.ok(wide.ticks.length <= 5 && wide.high >= Math.log(64));
  const extreme = fitWindow([-30, 30], false);
  assert.ok(extreme.low <= -30 && extreme.high >= 30);
});

test("ticks are printed with the digits that tell them apart", () => {
  assert.equal(tickText(Math.log(0.71)), "0.71");
  assert.equal(tickText(Math.log(16)), "16.0");
  assert.equal(tickText(Math.log(256)), "256");
  assert.equal(tickText(Math.log(0.01)), "0.01");
});

test("labels are pushed apart, in order, and left alone where there is room", () => {
  assert.deepEqual(pushApart([10, 50], 14), [10, 50]);
  const [a, b, c] = pushApart([20, 21, 60], 14);
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  assert.ok(b - a >= 13.9 && c === 60);
  const same = pushApart([5, 5, 5], 10).slice().sort((x, y) => x - y);
  assert.ok((same[1] ?? 0) - (same[0] ?? 0) >= 9.9 && (same[2] ?? 0) - (same[1] ?? 0) >= 9.9);
});

test("versions are labelled at majors first and never too close", () => {
  const at = labelled(40, [0, 10, 11, 30], 5);
  for (let i = 1; i < at.length; i++) assert.ok((at[i] ?? 0) - (at[i - 1] ?? 0) >= 5, `${at}`);
  assert.ok(at.includes(0) && at.includes(10) && at.includes(30));
  assert.deepEqual(labelled(1, [0], 10), [0]);
});
