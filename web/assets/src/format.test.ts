import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fixed, full, interval, percent, ratio, short, unitSuffix } from "./format.ts";

const vectors = JSON.parse(readFileSync(new URL("../../chart/testdata/ratios.json", import.meta.url), "utf8"));

test("ratios and intervals are printed as the server prints them", () => {
  assert.ok(vectors.ratio.length > 5);
  for (const v of vectors.ratio) {
    assert.equal(ratio(v.r, v.low, v.high), v.text, `ratio ${v.r}`);
    assert.equal(interval(v.low, v.high), v.interval, `interval ${v.low} ${v.high}`);
  }
});

test("percentages", () => {
  for (const v of vectors.percent) assert.equal(percent(v.r), v.text, `${v.r}`);
});

test("short and full figures", () => {
  for (const v of vectors.short) assert.equal(short(v.v), v.text, `${v.v}`);
  for (const v of vectors.full) assert.equal(full(v.v), v.text, `${v.v}`);
});

test("ties go to even on both sides of zero", () => {
  assert.equal(fixed(0.125, 2), "0.12");
  assert.equal(fixed(0.375, 2), "0.38");
  assert.equal(fixed(-0.125, 2), "-0.12");
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(3.5, 0), "4");
});

test("units stand behind figures as people write them", () => {
  assert.equal(unitSuffix("1/s"), "/s");
  assert.equal(unitSuffix("µs"), " µs");
  assert.equal(unitSuffix("count"), "");
  assert.equal(unitSuffix("%"), "\u2009%");
});
