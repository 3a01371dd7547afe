import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { expect, it } from "vitest";
import { article } from "../../../../examples/blog/src/api/article/model.ts";
import { app } from "../../../../examples/blog/src/app.ts";
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

it(
  "fetchwork verify finds nothing in the blog, and what its baseline does not have",
  { timeout: 60_000 },
  async () => {
    const { code, stdout } = await run(["--json"], blog);
    const report: { reads: { article: Record<string, string[]> } } = JSON.parse(stdout);
    expect(code).toBe(0);
    report.reads.article["anonymous"] = ["title"];
    const baseline = join(mkdtempSync(join(tmpdir(), "verify-")), "verify.json");
    writeFileSync(baseline, JSON.stringify(report));
    const compared = await run(["--baseline", baseline], blog);
    expect(compared.code).toBe(1);
    expect(compared.stdout).toContain("opened  article.content anonymous\n");
  },
);

it("fetchwork verify uses the database that a variable names, and refuses one with documents", async () => {
  const folder = mkdtempSync(join(tmpdir(), "verify-"));
  const url = `sqlite:${join(folder, "verify.db")}`;
  const io = memoryIo({ cwd: blog, env: { VERIFY_DATABASE: url } });
  const args = ["verify", "--database", "env:VERIFY_DATABASE"];
  expect(await runCommand(commands, { args, io })).toBe(0);
  expect(existsSync(join(folder, "verify.db"))).toBe(true);
  const store = await openStore(url, { collections: app.collections });
  await store
    .collection(article.collection)
    .insert({ title: "Mine", content: "It is mine", author: "me" });
  await store.close();
  const refused = await run(["--database", url], blog);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("the database has documents in articles: expected an empty one");
});
