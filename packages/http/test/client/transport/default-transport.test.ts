import { spawnSync } from "node:child_process";
import path from "node:path";
import { Client } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { defaultTransport } from "../../../src/client/transport/default-transport.ts";

/** Runs a program, and returns what it prints. */
function run(program: string): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@fetchwork/source", "--input-type=module", "--eval", program],
    { cwd: path.join(import.meta.dirname, ".."), encoding: "utf8" },
  );
  return stdout + stderr;
}

const watch = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  const hasUndici = () => loaded.some((url) => url.includes("/node_modules/undici/"));
`;

describe("the transport of a client that was given none", () => {
  it("is undici on Node, loaded by the first request and not before", () => {
    const output = run(`${watch}
      const { Client, json, wrap } = await import("@fetchwork/http");
      const client = new Client();
      console.log(hasUndici());
      await client.trySend({ baseUrl: "http://127.0.0.1:9/" });
      console.log(hasUndici());
    `);
    expect(output).toBe("false\ntrue\n");
  });

  it("is not loaded for a client that has another one", () => {
    const output = run(`${watch}
      const { Client, mockTransport } = await import("@fetchwork/http");
      const client = new Client({ transport: mockTransport(() => new Response("mine")) });
      console.log((await client.send({ baseUrl: "http://h/" })).body, hasUndici());
    `);
    expect(output).toBe("mine false\n");
  });

  it("does not keep a process alive that has nothing else to do", () => {
    const output = run(`
      import { send } from "@fetchwork/http";
      import { serve } from "@fetchwork/http/serve";
      const server = await serve(() => new Response("ok"), { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 });
      console.log((await send({ baseUrl: server.url })).body);
      server.close();
    `);
    expect(output).toBe("ok\n");
  });

  it("is fetch elsewhere", async () => {
    const client = new Client({ transport: defaultTransport() });
    const { error } = await client.trySend({ baseUrl: "http://127.0.0.1:9/" });
    expect(error).toMatchObject({
      name: "ConnectionError",
      cause: { message: expect.any(String) as string },
    });
  });
});
