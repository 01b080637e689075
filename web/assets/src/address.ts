// The state of a view is its address. The order of keys is that of the server (web/chartsquery.go).

import type { Base } from "./spec.ts";

const order = [
  "system", "suite", "server", "workload", "clients", "step", "metric", "compiler", "config",
  "base", "base_compiler", "base_config", "from", "to", "across", "family", "scale", "order", "sensitivity", "all", "at",
];

/** Keys that the script changes without asking the server. */
const own = new Set(["base", "base_compiler", "base_config", "sensitivity", "at"]);

function escape(s: string): string {
  return encodeURIComponent(s)
    .replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase())
    .replace(/%20/g, "+")
    .replace(/%2F/g, "/")
    .replace(/%3A/g, ":")
    .replace(/%2C/g, ",");
}

/** A query with some keys changed; null or "" takes a key away. Unknown keys are kept, at the end. */
export function withKeys(search: string, changes: Readonly<Record<string, string | null>>): string {
  const pairs = [...new URLSearchParams(search)].filter(([k]) => !(k in changes));
  for (const [k, v] of Object.entries(changes)) if (v !== null && v !== "") pairs.push([k, v]);
  const rank = (k: string) => (order.includes(k) ? order.indexOf(k) : order.length);
  pairs.sort(([a], [b]) => rank(a) - rank(b) || (rank(a) === order.length ? (a < b ? -1 : a > b ? 1 : 0) : 0));
  return pairs.length === 0 ? "" : "?" + pairs.map(([k, v]) => `${escape(k)}=${escape(v)}`).join("&");
}

/** The address of a comparison of a version with the base, from that of the page's own link to such a comparison. */
export function compareAddress(href: string, base: Base, version: string): string {
  const [path = "", search = ""] = href.split("?", 2);
  const q = new URLSearchParams(search);
  for (const key of ["a.version", "b.version"]) q.delete(key);
  const apart = (key: string, of: string) => {
    if (!of) return;
    const shown = q.getAll(key);
    q.delete(key);
    q.set(`a.${key}`, of);
    for (const v of shown) q.append(`b.${key}`, v);
  };
  apart("compiler", base.compiler);
  apart("config", base.config);
  // Without a version of its own the base is another build or config at the same version.
  if (base.version) {
    q.set("a.version", base.version);
    q.set("b.version", version);
  } else q.set("version", version);
  return `${path}?${q.toString()}`;
}

/** The keys of a base; those of the base that an address without one has are left out, unless they must be spelled out. */
export function baseKeys(base: Base, autoBase: string, spelledOut = false): Record<string, string | null> {
  const auto = base.version === autoBase && !base.compiler && !base.config;
  return {
    base: auto && !spelledOut ? null : base.version,
    base_compiler: base.compiler,
    base_config: base.config,
  };
}

/** The base that an address names. */
export function baseOf(search: string, autoBase: string): Base {
  const q = new URLSearchParams(search);
  const base = { version: q.get("base") ?? "", compiler: (q.get("base_compiler") ?? "").replaceAll(" ", "+"), config: q.get("base_config") ?? "" };
  if (!base.version && !base.compiler && !base.config) return { ...base, version: autoBase };
  return base;
}

/** What of an address the server alone can answer: two addresses with the same rest show the same figures. */
export function rest(search: string): string {
  const pairs = [...new URLSearchParams(search)].filter(([k]) => !own.has(k)).map(([k, v]) => `${escape(k)}=${escape(v)}`);
  return pairs.sort().join("&");
}
