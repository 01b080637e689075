import assert from "node:assert/strict";
import { test } from "node:test";
import { whole, type Figure } from "./spec.ts";

const sent = (extra: Record<string, unknown>, series: unknown[]): Figure =>
  ({ step: "fillseq", title: "fillseq", option: { ...extra, series }, lines: series.map(() => ({})) }) as unknown as Figure;

test("what all charts have alike is put into each", () => {
  const rules = { data: [1] };
  const f = whole(sent({ yAxis: "own" }, [{ data: [1, null] }, { data: [2, 3] }]), { option: { grid: "common", yAxis: "common" }, rules });
  assert.deepEqual(f.option, { grid: "common", yAxis: "own", series: [{ data: [1, null], markLine: rules }, { data: [2, 3] }] });
  assert.deepEqual(f.lines.map((l) => l.value), [[1, null], [2, 3]]);
});

test("a chart that stands alone is whole as sent", () => {
  const f = whole(sent({ grid: "own" }, [{ data: [1], markLine: "own" }]), {});
  assert.deepEqual(f.option, { grid: "own", series: [{ data: [1], markLine: "own" }] });
  const kept = whole(sent({}, [{ data: [1], markLine: "own" }]), { rules: "common" });
  assert.deepEqual(kept.option["series"], [{ data: [1], markLine: "own" }]);
});
