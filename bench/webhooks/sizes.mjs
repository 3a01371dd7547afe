// What `Webhooks` and @octokit/webhooks cost before they run: type check, bundle, install.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import * as octokit from "@octokit/webhooks";
import { github } from "../../packages/webhooks/dist/vendors/index.js";
import { rolldown } from "../../node_modules/rolldown/dist/index.mjs";

const root = resolve(import.meta.dirname, "../..");

/** Seconds to check 50 typed handlers. */
export function measureTypes() {
  const folder = join(root, "node_modules/.cache/bench-webhooks");
  mkdirSync(folder, { recursive: true });
  const names = github.eventNames.filter(
    (name) => name.includes(".") && octokit.emitterEventNames.includes(name),
  );
  const handlers = names
    .filter((_, index) => index % 4 === 0)
    .slice(0, 50)
    .map(
      (name) =>
        `w.on(${JSON.stringify(name)}, ({ id, name, payload }) => use(id, name, payload.action));`,
    );
  const write = (name, head) =>
    writeFileSync(
      join(folder, `${name}.mts`),
      [
        ...head,
        "declare function use(...all: (string | undefined)[]): void;",
        ...handlers,
        "createNodeMiddleware(w);",
      ].join("\n"),
    );
  write("ours", [
    'import { createNodeMiddleware, Webhooks } from "@fetchwork/webhooks";',
    'import { github } from "@fetchwork/webhooks/vendors";',
    'const w = new Webhooks({ secret: "s", vendor: github });',
  ]);
  const theirs = join(root, "bench/node_modules/@octokit/webhooks");
  write("octokit", [
    `import { createNodeMiddleware, Webhooks } from ${JSON.stringify(`${theirs}/dist-types/index.js`)};`,
    'const w = new Webhooks({ secret: "s" });',
  ]);
  const results = {};
  for (const name of ["ours", "octokit"]) {
    // What is published, not our sources.
    const compilerOptions = { customConditions: [] };
    const project = {
      extends: "../../../tsconfig.json",
      compilerOptions,
      files: [`${name}.mts`],
      include: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const run = spawnSync(process.execPath, [tsc, "-p", "."], {
      cwd: folder,
      encoding: "utf8",
      timeout: 300_000,
    });
    const start = performance.now();
    const again = spawnSync(process.execPath, [tsc, "-p", ".", "--extendedDiagnostics"], {
      cwd: folder,
      encoding: "utf8",
      timeout: 300_000,
    });
    const seconds = (performance.now() - start) / 1000;
    const read = (label) => new RegExp(`${label}:\\s+([\\d.]+)`).exec(again.stdout)?.[1];
    const codes = [...new Set(run.stdout.match(/TS\d+/g) ?? [])].join(" ");
    results[name] = {
      seconds,
      note: `check ${read("Check time")} s, ${read("Instantiations")} instantiations${codes && `, ${codes}`}`,
    };
  }
  rmSync(folder, { recursive: true });
  const { ours: a, octokit: b } = results;
  console.log(
    `| type check of 50 handlers | ${a.seconds.toFixed(2)} s (${a.note}) | ${b.seconds.toFixed(2)} s (${b.note}) | ${(b.seconds / a.seconds).toFixed(1)} |`,
  );
}

/** Bytes of a worker. */
export async function measureBundles() {
  const sizes = {};
  for (const [name, text] of Object.entries({
    ours: `export { Webhooks, createWebMiddleware } from ${JSON.stringify(join(root, "packages/webhooks/dist/index.js"))}; export { github } from ${JSON.stringify(join(root, "packages/webhooks/dist/vendors/index.js"))};`,
    octokit: `export { Webhooks, createWebMiddleware } from ${JSON.stringify(join(root, "bench/node_modules/@octokit/webhooks/dist-bundle/index.js"))};`,
  })) {
    const build = await rolldown({
      input: "entry",
      platform: "browser",
      plugins: [
        {
          name: "entry",
          resolveId: (id) => (id === "entry" ? id : null),
          load: (id) => (id === "entry" ? text : null),
        },
      ],
    });
    const { output } = await build.generate({ format: "es", minify: true, comments: false });
    await build.close();
    sizes[name] = [output[0].code.length, gzipSync(output[0].code, { level: 9 }).length];
  }
  const show = ([raw, zipped]) => `${raw} (${zipped} gzip)`;
  console.log(
    `| bytes bundled for Workers | ${show(sizes.ours)} | ${show(sizes.octokit)} | ${(sizes.octokit[0] / sizes.ours[0]).toFixed(1)} |`,
  );
}

/** Kilobytes in `node_modules`. */
export function measureInstall() {
  const kilobytes = (folders) =>
    folders.reduce((sum, folder) => {
      const { stdout } = spawnSync("du", ["-sk", "--apparent-size", join(root, folder)], {
        encoding: "utf8",
      });
      return sum + Number(stdout.split("\t")[0]);
    }, 0);
  const mine = kilobytes([
    "packages/webhooks/dist",
    "packages/webhooks/src",
    "packages/http/dist",
    "packages/http/src",
    "node_modules/srvx",
    "node_modules/undici",
  ]);
  const names = [
    "webhooks",
    "webhooks-methods",
    "openapi-webhooks-types",
    "request-error",
    "types",
    "openapi-types",
  ];
  const theirs = kilobytes(names.map((name) => `bench/node_modules/@octokit/${name}`));
  const types = kilobytes(["node_modules/@octokit/openapi-webhooks-types"]);
  console.log(
    `| installed, kB (with GitHub's types) | ${mine} (${mine + types}) | ${theirs} | ${(theirs / mine).toFixed(1)} |`,
  );
}
