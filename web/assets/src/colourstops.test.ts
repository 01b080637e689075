import assert from "node:assert/strict";
import { test } from "node:test";
import { sideOf, stretches } from "./colourstops.ts";

const p = (x: number, y: number, half: number | null = 0.1) => ({ x, y, half });

test("the colour changes where the line leaves the band, not at a point", () => {
  assert.deepEqual(stretches([p(0, 0), p(10, 0.2)]), [
    { from: 0, to: 5, side: 0 },
    { from: 5, to: 10, side: 1 },
  ]);
});

test("a line that jumps across the band has three stretches", () => {
  const s = stretches([p(0, -0.2), p(10, 0.2)]);
  assert.deepEqual(s.map((x) => x.side), [-1, 0, 1]);
  assert.ok(Math.abs((s[0]?.to ?? 0) - 2.5) < 1e-9 && Math.abs((s[2]?.from ?? 0) - 7.5) < 1e-9);
});

test("a band that gets narrower decides between its points too", () => {
  const s = stretches([p(0, 0.1, 0.2), p(10, 0.1, 0.0)]);
  assert.deepEqual(s.map((x) => [x.from, x.to, x.side]), [[0, 5, 0], [5, 10, 1]]);
});

test("without intervals nothing is decided", () => {
  assert.equal(sideOf(p(0, 5, null)), 0);
  assert.deepEqual(stretches([p(0, 5, null), p(10, -5, null)]), [{ from: 0, to: 10, side: 0 }]);
  assert.deepEqual(stretches([p(0, 0.3), p(10, 5, null)]).map((x) => [x.from, x.to, x.side]), [[0, 5, 1], [5, 10, 0]]);
});

test("one point, no point", () => {
  assert.deepEqual(stretches([]), []);
  assert.deepEqual(stretches([p(3, 1)]), [{ from: 3, to: 3, side: 1 }]);
});
