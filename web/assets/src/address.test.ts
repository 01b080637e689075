import assert from "node:assert/strict";
import { test } from "node:test";
import { baseKeys, baseOf, compareAddress, rest, withKeys } from "./address.ts";

const base = (version: string, compiler = "", config = "") => ({ version, compiler, config });

test("keys stand in the server's order, unknown ones last, and none is lost", () => {
  assert.equal(withKeys("?zz=1&to=8.8.0&aa=2&server=c2", { base: "4.4.1" }), "?server=c2&base=4.4.1&to=8.8.0&aa=2&zz=1");
  assert.equal(withKeys("?server=c2&server=u5&base=1", { base: null }), "?server=c2&server=u5");
  assert.equal(withKeys("?base=1", { base: "" }), "");
});

test("names are escaped as the server escapes them", () => {
  assert.equal(withKeys("", { base_compiler: "clang+lto" }), "?base_compiler=clang%2Blto");
  assert.equal(withKeys("", { at: "a b/c:d,e(f)!*'&" }), "?at=a+b/c:d,e%28f%29%21%2A%27%26");
});

test("the base that an address without one has is left out, unless it must be spelled out", () => {
  assert.deepEqual(baseKeys(base("4.4.1"), "4.4.1"), { base: null, base_compiler: "", base_config: "" });
  assert.equal(baseKeys(base("4.4.1"), "4.4.1", true)["base"], "4.4.1");
  assert.equal(baseKeys(base("4.4.1", "gcc"), "4.4.1")["base"], "4.4.1");
});

test("a locked version is compared with the base", () => {
  const link = "/compare?system=rocksdb&server=c2&compiler=gcc&a.version=4.4.1&b.version=8.8.0";
  assert.equal(compareAddress(link, base("6.0.0"), "8.6.7"), "/compare?system=rocksdb&server=c2&compiler=gcc&a.version=6.0.0&b.version=8.6.7");
  assert.equal(compareAddress(link, base("", "clang+lto"), "8.6.7"), "/compare?system=rocksdb&server=c2&a.compiler=clang%2Blto&b.compiler=gcc&version=8.6.7");
});

test("the base of an address", () => {
  assert.deepEqual(baseOf("?server=c2", "4.4.1"), base("4.4.1"));
  assert.deepEqual(baseOf("?base=8.8.0&base_compiler=clang+lto", "4.4.1"), base("8.8.0", "clang+lto"));
  assert.deepEqual(baseOf("?base_compiler=gcc", "4.4.1"), base("", "gcc"));
});

test("base and locked version do not need the server, all else does", () => {
  assert.equal(rest("?server=c2&base=1&at=2"), rest("?server=c2&base_config=a0"));
  assert.notEqual(rest("?server=c2"), rest("?server=u5"));
});
