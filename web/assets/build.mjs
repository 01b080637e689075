// Bundles src/page.ts and src/style.css into ../static/dist, which the Go binary embeds.
//
// Every file carries a hash of its content in its name, so that it can be cached for good; manifest.json maps the
// plain name ("page.js") to the hashed one and is the only name the server has to know. Files of an earlier build are
// removed, except for .gitkeep.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.resolve(here, "../static/dist");

// The two entries: plain name in the manifest -> source file.
const entries = { "page.js": "src/page.ts", "style.css": "src/style.css" };

function fail(message) {
  console.error(`build.mjs: ${message}`);
  process.exit(1);
}

// Licences of what ends up inside the bundle. ECharts is Apache-2.0 and asks for LICENSE and NOTICE; zrender, tslib
// and the d3 parts inside ECharts ask for their own texts.
const licences = [
  ["ECharts", "node_modules/echarts/LICENSE"],
  ["zrender", "node_modules/zrender/LICENSE"],
  ["tslib", "node_modules/tslib/LICENSE.txt"],
  ["d3 (parts of it, inside ECharts)", "node_modules/echarts/licenses/LICENSE-d3"],
];

async function licenceText() {
  const parts = [];
  for (const [name, file] of licences) {
    parts.push(`==== ${name} ====\n\n${(await readFile(path.join(here, file), "utf8")).trim()}\n`);
  }
  return parts.join("\n");
}

// hashed puts the first 12 hex digits of the content's SHA-256 into a name: page.js -> page-0123456789ab.js.
function hashed(name, bytes) {
  const sum = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const { name: stem, ext } = path.parse(name);
  return `${stem}-${sum}${ext}`;
}

async function main() {
  for (const source of Object.values(entries)) {
    if (!existsSync(path.join(here, source))) fail(`web/assets/${source} is missing: nothing to bundle`);
  }
  if (!existsSync(path.join(here, "node_modules/esbuild"))) {
    fail("esbuild is not installed: run `npm ci` in web/assets, or `make bundle` in the top directory");
  }
  const esbuild = await import("esbuild");

  const outputs = new Map();
  for (const [name, source] of Object.entries(entries)) {
    let result;
    try {
      result = await esbuild.build({
        absWorkingDir: here,
        entryPoints: [source],
        bundle: true,
        minify: true,
        write: false,
        outfile: path.join(dist, name),
        format: "iife",
        target: ["es2022"],
        charset: "utf8",
        legalComments: "none",
        logLevel: "warning",
      });
    } catch {
      process.exit(1); // esbuild has printed the positions
    }
    if (result.warnings.length > 0) fail(`${source}: the warnings above are treated as errors`);
    if (result.outputFiles.length !== 1) fail(`${source}: expected one output file, got ${result.outputFiles.length}`);
    outputs.set(name, Buffer.from(result.outputFiles[0].contents));
  }

  const text = await licenceText();
  const notice = await readFile(path.join(here, "node_modules/echarts/NOTICE"), "utf8");

  await mkdir(dist, { recursive: true });
  const keep = new Set([".gitkeep", "manifest.json", "LICENSE-echarts.txt", "NOTICE-echarts.txt"]);
  await writeFile(path.join(dist, "LICENSE-echarts.txt"), text);
  await writeFile(path.join(dist, "NOTICE-echarts.txt"), notice);
  const manifest = {};
  for (const [name, bytes] of outputs) {
    manifest[name] = hashed(name, bytes);
    keep.add(manifest[name]);
    await writeFile(path.join(dist, manifest[name]), bytes);
    const gz = gzipSync(bytes, { level: 9 }).length;
    console.log(`${manifest[name]}: ${bytes.length} bytes, ${gz} gzipped`);
  }
  // After the files that it names and before the old ones go: a manifest never names a file that is not there.
  await writeFile(path.join(dist, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const old of await readdir(dist)) {
    if (!keep.has(old)) await rm(path.join(dist, old), { recursive: true });
  }
}

await main();
