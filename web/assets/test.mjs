// Runs the unit tests of the page script: every src/**/*.test.ts with Node's own test runner.
//
// Each test file is bundled by the bundler that also makes the page script, so that both see the same code.
// import.meta.url in a test is the address of its source file: test data is found relative to it.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));

async function testFiles(dir) {
  const found = [];
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) found.push(...(await testFiles(full)));
    else if (entry.name.endsWith(".test.ts")) found.push(full);
  }
  return found.sort();
}

const sources = await testFiles(path.join(here, "src"));
if (sources.length === 0) {
  console.error("test.mjs: no src/**/*.test.ts: a run without a test proves nothing");
  process.exit(1);
}

// Inside node_modules, so that packages left out of the bundle still resolve.
const out = await mkdtemp(path.join(here, "node_modules/.relqps-test-"));
let status = 1;
try {
  const compiled = [];
  for (const source of sources) {
    const name = path.relative(here, source).replaceAll(path.sep, "_").replace(/\.ts$/, ".mjs");
    const outfile = path.join(out, name);
    await esbuild.build({
      absWorkingDir: here,
      entryPoints: [source],
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node18",
      sourcemap: "inline",
      outfile,
      define: { "import.meta.url": JSON.stringify(pathToFileURL(source).href) },
      logLevel: "warning",
    });
    compiled.push(outfile);
  }
  const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...compiled, ...process.argv.slice(2)], {
    cwd: here,
    stdio: "inherit",
  });
  status = run.status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
process.exit(status);
