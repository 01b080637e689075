import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketAt, clampSpan, decode, panned, zoomed } from "./span.ts";

test("a part lies within the step and is never too short", () => {
  assert.deepEqual(clampSpan({ from: 10.6, to: 20.2 }, 100), { from: 10, to: 21 });
  assert.deepEqual(clampSpan({ from: -5, to: 200 }, 100), { from: 0, to: 100 });
  assert.deepEqual(clampSpan({ from: 50, to: 50 }, 100), { from: 47, to: 52 });
  assert.deepEqual(clampSpan({ from: 99.5, to: 100 }, 100), { from: 95, to: 100 });
  assert.deepEqual(clampSpan({ from: 300, to: 400 }, 100), { from: 95, to: 100 });
  assert.deepEqual(clampSpan({ from: 0, to: 1 }, 3), { from: 0, to: 3 });
});

test("zoom keeps the second it is around in its place", () => {
  assert.deepEqual(zoomed({ from: 0, to: 100 }, 0.5, null), { from: 25, to: 75 });
  assert.deepEqual(zoomed({ from: 0, to: 100 }, 0.5, 20), { from: 10, to: 60 });
  assert.deepEqual(zoomed({ from: 0, to: 100 }, 0.5, 200), { from: 25, to: 75 });
});

test("a moved part keeps its length", () => {
  assert.deepEqual(panned({ from: 20, to: 40 }, 0.5, 100), { from: 30, to: 50 });
  assert.deepEqual(panned({ from: 90, to: 100 }, 0.5, 100), { from: 90, to: 100 });
  assert.deepEqual(panned({ from: 5, to: 25 }, -0.5, 100), { from: 0, to: 20 });
});

test("buckets come out as they were put in", () => {
  const line = { start_s: 1, step_s: 1, first: 6, bucket: 3, intervals: 14, scale: 10, mean: [7, null, 3], below: [2, null, 3], above: [1, null, 0] };
  assert.deepEqual(decode(line), [
    { start: 7, end: 9, middle: 8, width: 3, size: 3, least: 50, mean: 70, most: 80 },
    { start: 10, end: 12, middle: 11, width: 3, size: 3, least: null, mean: null, most: null },
    { start: 13, end: 14, middle: 13.5, width: 2, size: 2, least: 0, mean: 30, most: 30 },
  ]);
  const single = decode({ start_s: 2, step_s: 2, first: 1, bucket: 1, intervals: 9, scale: 0.01, mean: [123] });
  assert.deepEqual(single, [{ start: 4, end: 4, middle: 4, width: 2, size: 1, least: 1.23, mean: 1.23, most: 1.23 }]);
});

test("a second finds its bucket", () => {
  const buckets = decode({ start_s: 1, step_s: 1, first: 0, bucket: 3, intervals: 9, scale: 1, mean: [1, 2, 3] });
  assert.equal(bucketAt(buckets, 2)?.mean, 1);
  assert.equal(bucketAt(buckets, 3.4)?.mean, 1);
  assert.equal(bucketAt(buckets, 3.6)?.mean, 2);
  assert.equal(bucketAt(buckets, 20), null);
  assert.equal(bucketAt([], 1), null);
});
