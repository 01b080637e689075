// A part of the seconds of a step, and buckets of seconds as they travel (internal/bench, seconds.go).

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The least that is shown. */
export const least = 5;

/** A part in whole seconds within 0 to end, at least [least] long where the step is. */
export function clampSpan(span: Span, end: number): Span {
  let from = Math.max(0, Math.floor(Math.min(span.from, end)));
  let to = Math.min(end, Math.ceil(Math.max(span.to, 0)));
  const want = Math.min(least, end);
  if (to - from < want) {
    const middle = (from + to) / 2;
    from = Math.max(0, Math.min(end - want, Math.floor(middle - want / 2)));
    to = from + want;
  }
  return { from, to };
}

/** A part that is factor times as long, around a second, else around its middle. */
export function zoomed(span: Span, factor: number, around: number | null): Span {
  const at = around !== null && around >= span.from && around <= span.to ? around : (span.from + span.to) / 2;
  return { from: at - (at - span.from) * factor, to: at + (span.to - at) * factor };
}

/** A part moved by a multiple of its length, as far as there are seconds. */
export function panned(span: Span, by: number, end: number): Span {
  const length = span.to - span.from;
  const from = Math.max(0, Math.min(end - length, span.from + by * length));
  return { from, to: from + length };
}

/** A line of buckets as it travels: whole numbers in multiples of scale. */
export interface Wire {
  readonly start_s: number;
  readonly step_s: number;
  readonly first: number;
  readonly bucket: number;
  readonly intervals: number;
  readonly scale: number;
  readonly mean: readonly (number | null)[];
  readonly below?: readonly (number | null)[];
  readonly above?: readonly (number | null)[];
}

/** A bucket: the ends of its first and last interval, its middle, its length in seconds, and its figures; null for none. */
export interface Bucket {
  readonly start: number;
  readonly end: number;
  readonly middle: number;
  readonly width: number;
  readonly size: number;
  readonly least: number | null;
  readonly mean: number | null;
  readonly most: number | null;
}

export function decode(line: Wire): Bucket[] {
  // Scales below 1 are no exact numbers: 0.1 · 3 is not 0.3, 3 / 10 is.
  const down = line.scale < 1 ? Math.round(1 / line.scale) : 1;
  const value = (n: number) => (line.scale < 1 ? n / down : n * line.scale);
  return line.mean.map((mean, b) => {
    const from = line.first + b * line.bucket;
    const to = Math.max(from, Math.min(from + line.bucket, line.intervals) - 1);
    const start = line.start_s + from * line.step_s;
    const end = line.start_s + to * line.step_s;
    const place = { start, end, middle: (start + end) / 2, width: (to - from + 1) * line.step_s, size: to - from + 1 };
    if (mean === null) return { ...place, least: null, mean: null, most: null };
    return { ...place, least: value(mean - (line.below?.[b] ?? 0)), mean: value(mean), most: value(mean + (line.above?.[b] ?? 0)) };
  });
}

/** The bucket whose middle is nearest to a second, null where none is within half of its length. */
export function bucketAt(buckets: readonly Bucket[], second: number): Bucket | null {
  let best: Bucket | null = null;
  for (const b of buckets) if (!best || Math.abs(b.middle - second) < Math.abs(best.middle - second)) best = b;
  return best && Math.abs(best.middle - second) <= best.width / 2 + 1e-9 ? best : null;
}
