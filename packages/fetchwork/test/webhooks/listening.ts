import { onTestFinished, expect } from "vitest";
import { open } from "../../../middleware/test/chromium.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo, type MemoryIo } from "../memory-io.ts";

/** A `listen` with a page, and the program that it forwards to. */
export interface Listening {
  /** Of the receiver. */
  readonly url: string;
  /** Link to the page. */
  readonly page: string;
  readonly token: string;
  readonly io: MemoryIo;
  /** Bodies that were forwarded. */
  readonly arrived: string[];
  /** Ends the listener. */
  stop(): Promise<void>;
}

/** Starts `listen` on a free port, until the test ends. */
export async function startListening(...args: readonly string[]): Promise<Listening> {
  const arrived: string[] = [];
  const target = await open(async (request) => {
    arrived.push(await request.text());
    return new Response("thank you");
  });
  const end = new AbortController();
  const io = memoryIo({ signal: end.signal });
  const all = ["webhooks", "listen", "-p", "0", "--forward", target.url, ...args];
  const code = runCommand(commands, { args: all, io });
  const stop = async (): Promise<void> => {
    end.abort();
    await code;
  };
  onTestFinished(stop);
  await expect.poll(() => io.written.stderr, { interval: 5 }).toContain("Forwarding");
  const [url = ""] = /http:\S+?(?=,|\n)/.exec(io.written.stderr) ?? [];
  const [, page = "", token = ""] = /^Deliveries at (\S+#(\S+))$/m.exec(io.written.stderr) ?? [];
  return { url, page, token, io, arrived, stop };
}
