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
export function measureTypes(times) {
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
  const fileNames = { ours: "ours", octokit: "@octokit/webhooks" };
  const seconds = new Map(Object.values(fileNames).map((name) => [name, []]));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  for (let round = 0; round <= times; round += 1) {
    for (const [file, name] of Object.entries(fileNames)) {
      // What is published, not our sources.
      const compilerOptions = { customConditions: [] };
      const files = [`${file}.mts`];
      const project = { extends: "../../../tsconfig.json", compilerOptions, files, include: [] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
      const args = [tsc, "-p", "."];
      const options = { cwd: folder, encoding: "utf8", timeout: 100_000 };
      const start = performance.now();
      const stdout = String(spawnSync(process.execPath, args, options).stdout);
      const value = (performance.now() - start) / 1000;
      if (/error TS/.test(stdout)) throw new Error(stdout.slice(0, 2_000));
      // The first one reads from the disk.
      if (round > 0) seconds.get(name).push({ value });
    }
  }
  rmSync(folder, { recursive: true });
  return seconds;
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
  const of = (index) =>
    new Map([
      ["ours", [{ value: sizes.ours[index] / 1000 }]],
      ["@octokit/webhooks", [{ value: sizes.octokit[index] / 1000 }]],
    ]);
  return { "bundle for Workers": of(0), "bundle for Workers, gzip": of(1) };
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
  const beside = (value) =>
    new Map([
      ["ours", [{ value }]],
      ["@octokit/webhooks", [{ value: theirs }]],
    ]);
  return {
    "installed, with the sender and its HTTP client": beside(mine),
    "installed, with the types of GitHub's payloads": beside(mine + types),
  };
}
