#!/usr/bin/env python3
"""Writes ratios.json: what the server (Go) and the page script (TypeScript) must both compute.

Run it from this folder: python3 ratios.py > ratios.json

It shares no code with either of them. Samples go in; medians, noise, ratios, intervals and their printed forms come out.
  noise       standard deviation of ln(value) from run to run, pooled over the versions; all cases have at least 4 degrees
              of freedom for it, or too few versions to know it (how it is estimated without repeats is not tested here)
  multiplier  97.5 % quantile of Student's t with the degrees of freedom of the noise
  interval    exp(m - base m -+ multiplier sqrt(noise^2/n + base noise^2/base n)), m the mean of ln of the samples: by all of
              them, not by the medians whose ratio it is about, but stretched to that where it lies outside
The printed forms are rounded from the exact binary value, ties to even, which is what Python's decimal does.
"""
import json
import math
import sys
from decimal import ROUND_HALF_EVEN, Decimal

THIN, MINUS, DASH, MISSING = "\u2009", "\u2212", "\u2013", "\u2014"


def student_cdf(x, nu):
    """Integrates the density of Student's t with Simpson's rule."""
    c = math.exp(math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2)) / math.sqrt(nu * math.pi)
    n = 20000
    h = x / n
    f = lambda t: c * (1 + t * t / nu) ** (-(nu + 1) / 2)
    s = f(0) + f(x) + sum((4 if i % 2 else 2) * f(i * h) for i in range(1, n))
    return 0.5 + s * h / 3


def student_quantile(p, nu):
    lo, hi = 0.0, 1000.0
    for _ in range(80):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if student_cdf(mid, nu) < p else (lo, mid)
    return (lo + hi) / 2


def median(values):
    v = sorted(values)
    n = len(v)
    return v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2


def noise(points):
    """points: lists of samples by version. Gives (sd, degrees of freedom) or None."""
    logs = [[math.log(v) for v in p if v > 0] for p in points]
    logs = [p for p in logs if p]
    means = [sum(p) / len(p) for p in logs]
    ss = sum((v - m) ** 2 for p, m in zip(logs, means) for v in p)
    df = sum(len(p) - 1 for p in logs)
    if df >= 4:
        return math.sqrt(ss / df), df
    assert len(means) <= 3, "neighbours might know the noise"
    return None


def fixed(x, digits):
    q = Decimal(x).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN)
    return format(q, "f")


def ratio_digits(low, high):
    return 3 if low is not None and high is not None and high > low and (high - low) / 2 < 0.005 else 2


def format_ratio(r, low, high):
    return fixed(r, ratio_digits(low, high))


def format_interval(low, high):
    if low is None or high is None:
        return MISSING
    d = ratio_digits(low, high)
    return fixed(low, d) + DASH + fixed(high, d)


def format_percent(r):
    x = (r - 1) * 1000
    tenths = math.floor(x + 0.5) if x >= 0 else -math.floor(-x + 0.5)
    if tenths == 0:
        return "0.0" + THIN + "%"
    whole, part = divmod(abs(tenths), 10)
    return ("+" if tenths > 0 else MINUS) + f"{whole}.{part}" + THIN + "%"


def significant(v):
    """Three significant digits, no exponent, trailing zeros kept."""
    if v == 0:
        return "0"
    d = Decimal(v)
    digits = max(0, 2 - d.adjusted())
    s = Decimal(fixed(v, digits))
    if s != 0 and max(0, 2 - s.adjusted()) < digits:
        s = Decimal(fixed(v, max(0, 2 - s.adjusted())))
    return format(s, "f").replace("-", MINUS)


def format_short(v):
    for start, div, name in ((999.5e6, 1e9, "G"), (999.5e3, 1e6, "M"), (9999.5, 1e3, "K")):
        if abs(v) >= start:
            return significant(v / div) + THIN + name
    return significant(v)


def format_full(v):
    s = format(Decimal("%.15g" % v), "f")  # what is beyond 15 digits is of binary arithmetic
    whole, _, frac = s.lstrip("-").partition(".")
    frac = frac.rstrip("0")
    out = f"{int(whole):,}" + ("." + frac if frac else "")
    return (MINUS if s.startswith("-") else "") + out


# Figures of our own making. Lines have three versions at most, too few for neighbours to say anything of the noise, and
# five samples of one version, enough for repeats to do so.
CASES = [
    {
        "name": "one sample at most versions, a step down",
        "lines": [("gcc", [("9.0.0", [1000.0, 1010.5, 1002.0, 995.5, 1001.0]), ("9.10.0", [1003.0]), ("10.0.0", [893.75])])],
        "bases": [("9.0.0", ""), ("9.10.0", ""), ("10.0.0", "")],
    },
    {
        "name": "different counts, two compilers, base of the other",
        "lines": [("gcc", [("9.0.0", [233175.0, 234010.0, 232500.0]), ("9.2.0", [229000.0]),
                           ("10.0.0", [191476.0, 192000.0, 190100.0, 191900.0])]),
                  ("clang", [("9.0.0", [240100.0, 241000.0, 239000.0, 240500.0]), ("9.2.0", [238000.0, 238500.0, 239100.0]),
                             ("10.0.0", [200000.0])])],
        "bases": [("9.0.0", ""), ("9.0.0", "gcc"), ("10.0.0", "clang"), ("", "gcc"), ("9.9.9", "")],
    },
    {
        "name": "a hole, another line without the base version",
        "lines": [("gcc", [("9.0.0", [50.5, 50.0, 51.5, 49.5, 50.75]), ("9.2.0", [51.25]), ("9.5.0", [48.5])]),
                  ("clang", [("9.2.0", [60.0, 60.5, 59.0, 61.0, 60.25]), ("9.3.0", [61.5]), ("9.5.0", [59.5])])],
        "bases": [("9.0.0", ""), ("9.2.0", ""), ("", "gcc")],
    },
    {
        "name": "skewed repeats, whose medians and means disagree",
        "lines": [("gcc", [("9.0.0", [1000.0, 1001.0, 999.0, 1000.5, 500.0, 501.0, 1002.0]),
                           ("9.1.0", [960.0, 961.0, 959.0, 960.5, 2000.0, 2001.0, 962.0])])],
        "bases": [("9.0.0", ""), ("9.1.0", "")],
    },
    {
        "name": "too few points to know the noise",
        "lines": [("gcc", [("9.0.0", [8.0]), ("9.1.0", [9.0])])],
        "bases": [("9.0.0", ""), ("9.1.0", "")],
    },
    {
        "name": "a zero has a ratio but no interval, and is no base",
        "lines": [("gcc", [("9.0.0", [100.0, 101.0, 99.5, 100.5, 98.75]), ("9.1.0", [0.0]), ("9.2.0", [101.0])])],
        "bases": [("9.0.0", ""), ("9.1.0", "")],
    },
    {
        "name": "flagged points are divided but have no verdict",
        "lines": [("gcc", [("9.0.0", [100.0, 101.0, 99.5, 100.5, 98.75]), ("9.1.0", [20.0], "flagged"), ("9.2.0", [101.0])])],
        "bases": [("9.0.0", ""), ("9.2.0", "")],
    },
    {
        "name": "hardly any noise: three decimals",
        "lines": [("gcc", [("9.0.0", [1000.0, 1000.4, 999.7]), ("9.1.0", [1001.0, 1001.3, 1000.9]), ("9.2.0", [997.5, 997.9, 997.8])])],
        "bases": [("9.0.0", ""), ("9.2.0", "")],
    },
    {
        "name": "ties are rounded to even",
        "lines": [("gcc", [("9.0.0", [8.0]), ("9.1.0", [9.0]), ("9.2.0", [11.0])])],
        "bases": [("9.0.0", "")],
    },
]


def verdict(r, lo, hi, flagged, direction):
    if r is None or lo is None or hi is None or flagged:
        return ""
    if lo <= 1 <= hi:
        return "undecided"
    if direction == "neutral":
        return "moved"
    return "better" if (lo > 1) == (direction == "higher") else "worse"


def run_case(case):
    lines = []
    for compiler, points in case["lines"]:
        counted = [[] if len(p) > 2 else p[1] for p in points]
        nz = noise(counted)
        known = nz is not None and nz[0] > 0
        mult = student_quantile(0.975, nz[1]) if known else 0.0
        out = []
        for p in points:
            v = median(p[1])
            out.append({"version": p[0], "samples": p[1], "flagged": len(p) > 2, "value": v, "n": len(p[1]),
                        "m": sum(math.log(x) for x in p[1]) / len(p[1]) if min(p[1]) > 0 else None,
                        "se2": nz[0] ** 2 / len(p[1]) if known and v > 0 else None})
        lines.append({"compiler": compiler, "multiplier": mult, "noise": nz[0] if nz else None, "points": out})
    bases = []
    for version, compiler in case["bases"]:
        answers = []
        for line in lines:
            source = line if compiler == "" else next(l for l in lines if l["compiler"] == compiler)
            row = []
            for p in line["points"]:
                at = version or p["version"]
                b = next((q for q in source["points"] if q["version"] == at), None)
                if b is None or b["value"] <= 0:
                    row.append(None)
                    continue
                r = p["value"] / b["value"]
                lo = hi = None
                if b is p:
                    lo = hi = r
                elif p["se2"] is not None and b["se2"] is not None:
                    half = max(line["multiplier"], source["multiplier"]) * math.sqrt(p["se2"] + b["se2"])
                    lo, hi = (math.exp(p["m"] - b["m"] + s * half) for s in (-1, 1))
                    lo, hi = min(lo, r), max(hi, r)  # stretched to the ratio shown
                row.append({"relative": r, "low": lo, "high": hi, "text": format_ratio(r, lo, hi),
                            "interval": format_interval(lo, hi), "percent": format_percent(r),
                            "verdicts": [verdict(r, lo, hi, p["flagged"], d) for d in ("higher", "lower", "neutral")]})
            answers.append(row)
        bases.append({"version": version, "compiler": compiler, "lines": answers})
    return {"name": case["name"], "lines": lines, "bases": bases}


RATIOS = [(0.125, None, None), (1.125, None, None), (1.375, None, None), (0.935, None, None), (0.8076, 0.79, 0.83),
          (0.9999, 0.9966, 1.0032), (1.0625, 1.0605, 1.0645), (12.345, 11.0, 13.0), (0.0049, None, None), (1.0, 1.0, 1.0)]
PERCENTS = [1.0, 0.93, 1.041, 0.9995, 1.0005, 0.99949, 1.00049, 0.845, 2.0, 0.0, 0.257]
SHORTS = [0, 2069271, 233175, 999499, 999500, 9999.4, 9999.5, 10000, 1.5, 0.0123, 9.996, 99.96, 999.6, 1e9, 123456789, -42.5, 7,
          0.00099996, 5.0e-7, 48.25, 12.5, 0.125]
FULLS = [998.0999999999999, 944.9000000000001, 0, 1671040, 233175, 999, 1000, 12.5, 1234567.875, -1234.5, 0.1, 3, 1e15, 48.123456]

out = {
    "note": "made by ratios.py; do not edit",
    "cases": [run_case(c) for c in CASES],
    "ratio": [{"r": r, "low": lo, "high": hi, "text": format_ratio(r, lo, hi), "interval": format_interval(lo, hi)} for r, lo, hi in RATIOS],
    "percent": [{"r": r, "text": format_percent(r)} for r in PERCENTS],
    "short": [{"v": v, "text": format_short(v)} for v in SHORTS],
    "full": [{"v": v, "text": format_full(v)} for v in FULLS],
}
json.dump(out, sys.stdout, indent=1, ensure_ascii=True)
print()
