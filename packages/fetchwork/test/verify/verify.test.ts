import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";

const blog = join(import.meta.dirname, "../../../../examples/blog");

async function run(args: readonly string[], cwd: string) {
  const io = memoryIo({ cwd });
  const code = await runCommand(commands, { args: ["verify", ...args], io });
  return { code, ...io.written };
}

it("fetchwork verify exits with 2 outside of a project, and for a baseline that is not there", async () => {
  expect(await run([], tmpdir())).toMatchObject({ code: 2, stdout: "" });
  expect(await run(["--baseline", "none.json"], blog)).toMatchObject({ code: 2, stdout: "" });
});

it("fetchwork verify finds nothing in the blog, and what its baseline does not have", async () => {
  const { code, stdout } = await run(["--json"], blog);
  const report: { reads: { article: Record<string, string[]> } } = JSON.parse(stdout);
  expect(code).toBe(0);
  report.reads.article["anonymous"] = ["title"];
  const baseline = join(mkdtempSync(join(tmpdir(), "verify-")), "verify.json");
  writeFileSync(baseline, JSON.stringify(report));
  const compared = await run(["--baseline", baseline], blog);
  expect(compared.code).toBe(1);
  expect(compared.stdout).toContain("opened  article.content anonymous\n");
});
