import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { editScript } from "../../../agent/test/edit-script.ts";
import { startModelServer, type ModelServer } from "../../../agent/test/model-server.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { temporaryFolder } from "./command-process.ts";

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

it("fetchwork agent undo refuses what was changed since, and puts back what an edit changed", async () => {
  const cwd = temporaryFolder();
  const place = join(cwd, "a.js");
  writeFileSync(place, "export const c = 1;\n");
  const edits = [{ path: "a.js", search: "c = 1", replace: "c = 2" }];
  server = await startModelServer({ answers: editScript(edits) });
  const env = { FETCHWORK_BASE_URL: server.baseUrl, FETCHWORK_MODEL: "scripted" };
  const run = async (...args: readonly string[]) => {
    const io = memoryIo({ cwd, env });
    const code = await runCommand(commands, { args: ["agent", ...args], io });
    return { code, ...io.written };
  };
  expect((await run("undo")).stderr).toContain("there is no run");
  expect(await run("edit", ".", "set c to 2")).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, ".fetchwork/.gitignore"), "utf8")).toBe("*\n");
  writeFileSync(place, "mine\n");
  const refused = await run("undo", ".");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("a.js")]);
  expect((await run("undo", "--dry-run")).stdout).toBe("restored   a.js (changed since)\n");
  expect(readFileSync(place, "utf8")).toBe("mine\n");
  const { stdout } = await run("undo", "--force", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ files: [{ path: "a.js", action: "restored" }] });
  expect(readFileSync(place, "utf8")).toBe("export const c = 1;\n");
});
