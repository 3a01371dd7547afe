import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo, type MemoryIo } from "../memory-io.ts";
import { secretFile } from "./secret-file.ts";

interface Arrived {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The program that is forwarded to. */
async function startTarget(status = 200): Promise<{ url: string; arrived: Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url: path = "", headers } = request;
      arrived.push({ path, headers, body: Buffer.concat(chunks) });
      response.writeHead(status, { "content-type": "text/x-answer" }).end("answer");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks`, arrived };
}

interface Listening {
  readonly url: string;
  readonly io: MemoryIo;
  readonly stdin: PassThrough;
  readonly code: Promise<number>;
}

async function startListening(...args: readonly string[]): Promise<Listening> {
  const stop = new AbortController();
  const stdin = new PassThrough();
  const io = memoryIo({ stdin, signal: stop.signal });
  const code = runCommand(commands, { args: ["webhooks", "listen", "-p", "0", ...args], io });
  onTestFinished(async () => {
    stop.abort();
    await code;
  });
  await expect.poll(() => io.written.stderr, { interval: 5 }).toContain("Forwarding");
  const url = /http:\S+?(?=,|\n)/.exec(io.written.stderr)?.[0] ?? "";
  return { url, io, stdin, code };
}

const body = Buffer.from([0xff, 0, 0x7b, 0xc3, 0xa9, 0x0a]);

it.each(["nonsense", "ftp://a.example", "http://a:b@a.example", "/hooks"])(
  "listen refuses --forward %s",
  async (target) => {
    const io = memoryIo();
    const args = ["webhooks", "listen", "-p", "0", "--forward", target];
    expect(await runCommand(commands, { args, io })).toBe(2);
    expect(io.written.stderr).toContain("--forward must be");
  },
);

it("listen refuses to forward to itself", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  const io = memoryIo();
  const target = `http://127.0.0.1:${port}/x`;
  const args = ["webhooks", "listen", "-p", String(port), "--forward", target];
  expect(await runCommand(commands, { args, io })).toBe(2);
  expect(io.written.stderr).toContain("--forward must not be where this command listens");
});

it("listen forwards nothing that it refuses", async () => {
  const target = await startTarget();
  const { url, code } = await startListening(
    "--forward",
    target.url,
    ...secretFile("x"),
    "--count",
    "1",
  );
  const headers = { "content-type": "application/json", "x-vendor-signature": "sha256=00" };
  expect((await fetch(url, { method: "POST", body, headers })).ok).toBe(false);
  expect(await code).toBe(0);
  expect(target.arrived).toEqual([]);
});

it("listen forwards the bytes and headers that came, and returns what the target responds", async () => {
  const target = await startTarget(418);
  const { url, io, code } = await startListening("--forward", target.url, "--count", "1");
  const headers = {
    "x-vendor-signature": "sha256=abc",
    "content-type": "application/x-odd",
    "user-agent": "vendor/1",
    te: "trailers",
  };
  const response = await fetch(`${url}?account=1`, { method: "POST", body, headers });
  expect([response.status, await response.text()]).toEqual([418, "answer"]);
  expect(response.headers.get("content-type")).toBe("text/x-answer");
  expect(await code).toBe(0);
  const [delivery] = target.arrived;
  expect(delivery?.path).toBe("/hooks?account=1");
  expect(delivery?.body.equals(body)).toBe(true);
  expect(delivery?.headers).toMatchObject({
    "x-vendor-signature": "sha256=abc",
    "content-type": "application/x-odd",
    "user-agent": "vendor/1",
    host: new URL(target.url).host,
    "content-length": String(body.length),
  });
  expect(delivery?.headers["te"]).toBeUndefined();
  expect(io.written.stdout).toMatch(/ {2}418 {2}6 B {2}forwarded as 1 in \d+ ms\n/);
});

it("listen responds with 502 and says why when the target does not respond", async () => {
  const args = ["--forward", "http://127.0.0.1:1/", "--count", "1", "--json"];
  const { url, io, code } = await startListening(...args);
  expect((await fetch(url, { method: "POST", body })).status).toBe(502);
  expect(await code).toBe(0);
  const seen: unknown = JSON.parse(io.written.stdout);
  expect(seen).toMatchObject({
    status: 502,
    number: 1,
    reason: expect.stringContaining("refuses"),
  });
});

it("listen sends the last deliveries again when asked on its input", async () => {
  const target = await startTarget();
  const { url, io, stdin } = await startListening("--forward", target.url);
  for (let number = 1; number <= 21; number += 1) {
    await fetch(url, { method: "POST", body: `${number}` });
  }
  stdin.write("r\nr 2\nr 1\nnonsense\nrep");
  await expect.poll(() => io.written.stderr).toContain("There is no delivery 1; the last 20");
  stdin.write("lay 3\n");
  await expect.poll(() => io.written.stdout).toMatch(/replayed 3 {2}200 {2}in \d+ ms\n/);
  expect(target.arrived.slice(21).map((each) => String(each.body))).toEqual(["21", "2", "3"]);
});
