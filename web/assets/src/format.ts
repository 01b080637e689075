// How figures are set. The server prints the same figures with the same rules (internal/compare, format.go); both are
// tested with web/chart/testdata/ratios.json.

const thin = "\u2009";
const minus = "\u2212";
const dash = "\u2013";

/** Stands for a figure that was not measured; never 0. */
export const missing = "\u2014";

/**
 * A number with a fixed count of decimals, rounded from its exact binary value, ties to even. toFixed rounds ties up:
 * 1.125 would print as 1.13 here and as 1.12 on the server.
 */
export function fixed(x: number, digits: number): string {
  const up = x.toFixed(digits);
  // Doubles that end in a tie are short: 60 decimals show one of them in full.
  const exact = Math.abs(x).toFixed(60);
  const at = exact.indexOf(".") + 1 + digits;
  if (!/^50*$/.test(exact.slice(at))) return up;
  const down = exact.slice(0, digits === 0 ? at - 1 : at);
  const last = Number(down.at(-1));
  if (last % 2 !== 0) return up;
  return (x < 0 ? "-" : "") + down;
}

function ratioDigits(low: number | null, high: number | null): number {
  return low !== null && high !== null && high > low && (high - low) / 2 < 0.005 ? 3 : 2;
}

/** A relative value: two decimals, three where the half width of its interval is below 0.005. */
export function ratio(r: number, low: number | null, high: number | null): string {
  return fixed(r, ratioDigits(low, high));
}

/** An interval as 0.93–0.96. */
export function interval(low: number | null, high: number | null): string {
  if (low === null || high === null) return missing;
  const digits = ratioDigits(low, high);
  return fixed(low, digits) + dash + fixed(high, digits);
}

/** A relative value as a change: −7.0 % for 0.93. */
export function percent(r: number): string {
  const x = (r - 1) * 1000;
  const tenths = Math.floor(Math.abs(x) + 0.5); // halves away from zero
  if (tenths === 0) return `0.0${thin}%`;
  return `${x > 0 ? "+" : minus}${Math.floor(tenths / 10)}.${tenths % 10}${thin}%`;
}

function significant(v: number): string {
  if (v === 0) return "0";
  const digits = (x: number) => Math.max(0, 2 - Number(Math.abs(x).toExponential().split("e")[1]));
  let s = fixed(v, digits(v));
  const rounded = Number(s);
  // 9.996 rounds up to 10.00: one digit too many.
  if (rounded !== 0 && digits(rounded) < digits(v)) s = fixed(v, digits(rounded));
  return s.replace("-", minus);
}

/** Three significant digits, with K, M or G for large figures: 2.07 M. */
export function short(v: number): string {
  const a = Math.abs(v);
  if (a >= 999.5e6) return significant(v / 1e9) + thin + "G";
  if (a >= 999.5e3) return significant(v / 1e6) + thin + "M";
  if (a >= 9999.5) return significant(v / 1e3) + thin + "K";
  return significant(v);
}

/** All digits, thousands grouped: 1,671,040. */
export function full(v: number): string {
  // What is beyond 15 digits is of binary arithmetic.
  const [whole = "", frac] = plain(Number(Math.abs(v).toPrecision(15))).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (v < 0 ? minus : "") + grouped + (frac === undefined ? "" : "." + frac);
}

/** The shortest digits that give the number back, without an exponent. */
function plain(a: number): string {
  const s = String(a);
  const [mantissa = "", exponent] = s.split("e");
  if (exponent === undefined) return s;
  const [whole = "", frac = ""] = mantissa.split(".");
  const shift = Number(exponent);
  if (shift < 0) return "0." + "0".repeat(-shift - 1) + whole + frac;
  return whole + frac.padEnd(shift, "0");
}

/** What stands behind a figure of this unit: 233,175/s, 12.3 µs. Ratios and counts have nothing. */
export function unitSuffix(unit: string): string {
  switch (unit) {
    case "1/s":
      return "/s";
    case "count":
    case "ratio":
    case "":
      return "";
    case "%":
      return thin + "%";
    default:
      return " " + unit;
  }
}
