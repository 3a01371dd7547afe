import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveAcp } from "@fetchwork/agent/acp";
import { expect } from "../platform.ts";
import { scriptedProvider } from "../scripted-provider.ts";

interface Message {
  readonly id?: number;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
}

/** Works for an editor: it begins a session and asks a question. */
export async function smoke(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "smoke-acp-"));
  const waiting: ((message: Message) => void)[] = [];
  const editor = new TransformStream<Uint8Array, Uint8Array>();
  const writer = editor.writable.getWriter();
  let rest = "";
  const served = serveAcp({
    provider: scriptedProvider(),
    input: editor.readable,
    output: (bytes) => {
      const lines = (rest + new TextDecoder().decode(bytes)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as Message;
        if (message.id !== undefined) waiting[message.id]?.(message);
      }
    },
  });
  const ask = (id: number, method: string, params: unknown): Promise<Message> => {
    const response = new Promise<Message>((resolve) => (waiting[id] = resolve));
    const message = { jsonrpc: "2.0", id, method, params };
    void writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
    return response;
  };
  try {
    await ask(0, "initialize", { protocolVersion: 1 });
    const { result } = await ask(1, "session/new", { cwd: folder, mcpServers: [] });
    const prompt = [{ type: "text", text: "What is here?" }];
    const ended = await ask(2, "session/prompt", { sessionId: result?.sessionId, prompt });
    expect("how the prompt ended", ended.result?.stopReason, "end_turn");
    await writer.close();
    await served;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
