import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as sdk from "@agentclientprotocol/sdk";
import { expect, it, onTestFinished } from "vitest";
import { editScript } from "../../../agent/test/edit-script.ts";
import { startModelServer } from "../../../agent/test/model-server.ts";
import { temporaryFolder } from "./command-process.ts";

it(
  "agent acp changes a program for an editor that starts the command",
  { timeout: 40_000 },
  async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.js"), "export const a = 1;\n");
    const model = await startModelServer({
      answers: editScript([{ path: "a.js", search: "a = 1", replace: "a = 2" }]),
    });
    onTestFinished(() => model.close());
    const main = join(import.meta.dirname, "../../src/main.ts");
    const env = { FETCHWORK_BASE_URL: model.baseUrl, FETCHWORK_MODEL: "scripted" };
    const child = spawn(
      process.execPath,
      ["--conditions=@fetchwork/source", main, "agent", "acp", "--repair", "1"],
      {
        cwd: folder,
        env: {
          PATH: process.env["PATH"] ?? "",
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
          ...env,
        },
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = new Promise((resolve) => child.once("close", resolve));
    const titles: string[] = [];
    const stream = sdk.ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    await sdk
      .client({ name: "editor" })
      .onNotification("session/update", ({ params: { update } }) => {
        if (update.sessionUpdate === "tool_call") titles.push(update.title);
      })
      .onRequest("session/request_permission", () => ({
        outcome: { outcome: "selected", optionId: "once" },
      }))
      .connectWith(stream, async (agent) => {
        await agent.request("initialize", { protocolVersion: 1 });
        const { sessionId } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
        const prompt: sdk.ContentBlock[] = [{ type: "text", text: "Make it two" }];
        const { stopReason } = await agent.request("session/prompt", { sessionId, prompt });
        expect(stopReason).toBe("end_turn");
      });
    expect(readFileSync(join(folder, "a.js"), "utf8")).toBe("export const a = 2;\n");
    expect(titles).toEqual([
      "read a.js",
      "edit a.js",
      "Check: no new fault in 1 file",
      "Write a.js",
    ]);
    // The editor is gone, and so is the command.
    child.stdin.end();
    expect(await ended).toBe(0);
  },
);
