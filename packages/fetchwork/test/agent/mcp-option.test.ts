import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startModelServer } from "../../../agent/test/model-server.ts";
import { mcpServers } from "../../src/agent/mcp-option.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { temporaryFolder } from "./command-process.ts";

it.each(["", "s3cr3t", "=s3cr3t", "a=", "a= ", "my name=s3cr3t", "a=s3cr3t 'b", 'a="s3cr3t'])(
  "mcpServers() refuses %j without repeating it",
  (value) => {
    expect(() => mcpServers([value])).toThrow(/^invalid --mcp \(number 1\)(?!.*s3cr3t)/);
  },
);

it.each([
  ["a=npx -y  server /tmp", ["npx", "-y", "server", "/tmp"]],
  [`a=x "b c" 'd "e"' f'g h'i ""`, ["x", "b c", 'd "e"', "fg hi", ""]],
  ["a=x b=c $HOME; \\ | *", ["x", "b=c", "$HOME;", "\\", "|", "*"]],
])("mcpServers() splits %j without a shell", (value, command) => {
  expect(mcpServers([value])).toEqual([{ name: "a", command }]);
});

it("mcpServers() reads addresses", () => {
  const url = "https://mcp.example/mcp?a=b";
  expect(mcpServers([`a=${url}`])).toEqual([{ name: "a", url }]);
});

it("fetchwork agent edit --mcp has the tools of a server called", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "a.js"), "export const a = 1;\n");
  const edit = { path: "a.js", content: "export const a = 2;\n" };
  const model = await startModelServer({
    answers: [
      { last: "user", calls: [{ name: "files__read", arguments: { path: "x" } }] },
      {
        last: "tool",
        match: ["read of the server"],
        times: 1,
        calls: [{ name: "write", arguments: edit }],
      },
      { last: "tool", text: "It is done." },
    ],
  });
  onTestFinished(() => model.close());
  const server = join(import.meta.dirname, "../../../agent/test/mcp-server.ts");
  const run = async (...args: readonly string[]) => {
    const env = { FETCHWORK_BASE_URL: model.baseUrl, FETCHWORK_MODEL: "scripted" };
    const io = memoryIo({ cwd, env });
    const code = await runCommand(commands, { args: ["agent", "edit", ".", "x", ...args], io });
    return { code, ...io.written };
  };
  expect(await run("--mcp", "a=/no/such", "--mcp", "a=https://a.example")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("two have the same name"),
  });
  expect(await run("--mcp", "a=/no/such", "--dry-run")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the MCP server a cannot be started (ENOENT)"),
  });
  const done = await run("--mcp", `files="${process.execPath}" "${server}" normal`);
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining("files__read") });
});
