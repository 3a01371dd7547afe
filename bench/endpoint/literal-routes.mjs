// What the types of literal routes cost: a program that calls 200 of them, checked against the
// package that is built.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** The seconds that the compiler says each run took. */
export function secondsToCheckRoutes(times) {
  const folder = join(root, "node_modules/.cache/bench-endpoint");
  mkdirSync(folder, { recursive: true });
  const calls = Array.from({ length: 200 }, (_, index) => {
    const route = `GET /repos/{owner}/{repo}/things-${index}/{number}{?page,per_page}`;
    return `endpoint(${JSON.stringify(route)}, { owner: "a", repo: "b", number: ${index} });`;
  });
  const head = 'import { endpoint } from "@fetchwork/endpoint";';
  writeFileSync(join(folder, "routes.mts"), [head, ...calls].join("\n"));
  const compilerOptions = { customConditions: [] };
  const project = { extends: "../../../tsconfig.json", compilerOptions, files: ["routes.mts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...project, include: [] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = { cwd: folder, encoding: "utf8", timeout: 100_000 };
  try {
    return Array.from({ length: times }, () => {
      const { stdout } = spawnSync(
        process.execPath,
        [tsc, "-p", ".", "--extendedDiagnostics"],
        options,
      );
      if (/error TS/.test(stdout)) throw new Error(stdout);
      return Number.parseFloat(/Total time:\s+([\d.]+)/.exec(stdout)?.[1]);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
