import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { serveAcp } from "../src/acp/index.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";
import { takeLock } from "../src/workspace/file-lock.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer } from "./model-server.ts";

const toTwo = { path: "a.js", search: "a = 1", replace: "a = 2" };

/**
 * An editor that sends what it likes to a session, several messages at once, and hears each line.
 */
async function rawEditor(onLine: (line: string) => void = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), "acp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "a.js"), "export const a = 1;\n");
  const model = await startModelServer({ answers: editScript([toTwo]) });
  onTestFinished(() => model.close());
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const lines: string[] = [];
  const opened = Promise.withResolvers<string>();
  const served = serveAcp({
    provider: openAICompatible({ baseUrl: model.baseUrl, model: "scripted" }),
    input: input.readable,
    output: (bytes) => {
      const line = Buffer.from(bytes).toString();
      lines.push(line);
      const [, sessionId] = /"result":\{"sessionId":"(acp-[^"]*)"/.exec(line) ?? [];
      if (sessionId !== undefined) opened.resolve(sessionId);
      onLine(line);
    },
  });
  onTestFinished(async () => {
    await writer.close().catch(() => undefined);
    await served;
  });
  const send = (...messages: readonly object[]): void => {
    const texts = messages.map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);
    void writer.write(Buffer.from(texts.join(""))).catch(() => undefined);
  };
  send({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  send({ id: 1, method: "session/new", params: { cwd: folder, mcpServers: [] } });
  const sessionId = await opened.promise;
  const prompt = [{ type: "text", text: "Make it two" }];
  const prompted = { id: 2, method: "session/prompt", params: { sessionId, prompt } };
  return { folder, lines, model, prompted, send, served, sessionId };
}

it.each(["session/cancel", "$/cancel_request"])(
  "the agent of an editor ends a prompt that is canceled by %s in the same moment",
  async (method) => {
    const { lines, model, prompted, send, sessionId } = await rawEditor();
    send(prompted, { method, params: { sessionId, requestId: 2 } });
    await expect.poll(() => lines.at(-1)).toContain('"stopReason":"cancelled"');
    expect(model.requests).toEqual([]);
  },
);

it("the agent of an editor ends the run of an editor that takes no more, and then is done", async () => {
  const { folder, prompted, send, served, sessionId } = await rawEditor((line) => {
    if (line.includes("tool_call")) throw new Error("EPIPE");
  });
  send({ id: 3, method: "session/set_mode", params: { sessionId, modeId: "write" } }, prompted);
  await served;
  expect(readFileSync(join(folder, "a.js"), "utf8")).toBe("export const a = 1;\n");
  const confined = await ConfinedFolder.open(folder, { maxFileBytes: 1_000 });
  const [runId] = readdirSync(join(folder, ".fetchwork/runs"));
  const unlock = await takeLock(confined, `.fetchwork/runs/${runId}/lock`);
  expect(unlock).toBeDefined();
  unlock?.();
});
