import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { github } from "../src/vendors/index.ts";

const root = resolve(import.meta.dirname, "../../..");
const folder = join(root, "node_modules/.cache/webhooks-type-check");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("A program with 50 typed handlers of GitHub's events needs few instantiations to type check", () => {
  mkdirSync(folder, { recursive: true });
  const names = github.eventNames
    .filter((name) => name.includes("."))
    .filter((_, index) => index % 5 === 0);
  expect(names.length).toBeGreaterThanOrEqual(49);
  const handlers = names
    .slice(0, 49)
    .map(
      (name) =>
        `webhooks.on(${JSON.stringify(name)}, ({ id, name, payload }) => use(id, name, payload.action));`,
    );
  writeFileSync(
    join(folder, "program.mts"),
    [
      'import { createNodeMiddleware, Webhooks } from "@fetchwork/webhooks";',
      'import { github } from "@fetchwork/webhooks/vendors";',
      "declare function use(...all: readonly (string | undefined)[]): void;",
      'const webhooks = new Webhooks({ secret: "s", vendor: github });',
      ...handlers,
      'webhooks.on("push", ({ payload }) => use(payload.ref, payload.repository.full_name));',
      "createNodeMiddleware(webhooks);",
    ].join("\n"),
  );
  const project = { extends: "../../../tsconfig.json", files: ["program.mts"], include: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const tsc = spawnSync(process.execPath, [compiler, "-p", ".", "--extendedDiagnostics"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([tsc.status, tsc.stderr]).toEqual([0, ""]);
  // The time is for bench/; these tell its cause, and are the same on every machine: 149,255 and
  // 95,990 when this was written.
  const figure = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(tsc.stdout)?.[1]);
  expect(figure("Instantiations")).toBeLessThan(200_000);
  expect(figure("Types")).toBeLessThan(150_000);
});
