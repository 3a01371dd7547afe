import { afterEach, describe, expect, it } from "vitest";
import { text, type Handler } from "../../../src/index.ts";
import { serve, type RunningServer, type UpgradeListener } from "../../../src/node/index.ts";
import { exchange, RawClient } from "../raw-client.ts";

const servers: RunningServer[] = [];
const clients: RawClient[] = [];
const reported: unknown[] = [];

async function start(handler: Handler, onUpgrade?: UpgradeListener): Promise<number> {
  reported.length = 0;
  const server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    maxRequestBodySize: 1_000_000,
    onUpgrade,
    reportError: (error) => reported.push(error),
  });
  servers.push(server);
  return server.port;
}

function connectTo(port: number): RawClient {
  const client = new RawClient(port);
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.reset();
  await Promise.all(servers.splice(0).map((server) => server.close({ gracePeriod: 0 })));
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

const bodies = /\/(?:held|\d|last);/g;

const pathOf = ({ url }: Request): string => new URL(url).pathname;

/** A request that is held until `release` is called; all others are answered at once. */
function holdFirst(): {
  readonly handler: Handler;
  readonly handled: string[];
  readonly release: () => void;
} {
  const handled: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const handler: Handler = async (request) => {
    const path = pathOf(request);
    handled.push(path);
    if (path === "/held") await released;
    return text(`${path};`);
  };
  return { handler, handled, release };
}

/** Ends when the server has read what was sent before on other connections. */
async function turnOf(port: number): Promise<void> {
  for (let round = 0; round < 5; round += 1) await exchange(port, last);
}

const padded = `GET /1 HTTP/1.1\r\nHost: a\r\nX-Padding: ${"x".repeat(1_000)}\r\n\r\n`;

/**
 * Sends far more than the buffers of two connections hold; returns whether the server reads all of
 * it.
 */
async function isWholeRead(client: RawClient, port: number, flood: string): Promise<boolean> {
  const written = new Promise<boolean>((resolve) => {
    client.socket.write(flood, "latin1", () => resolve(true));
  });
  // Each turn is one for the flood too, in which the server would read 64 KiB.
  const turns = (async () => {
    for (let round = 0; round < 60; round += 1) await turnOf(port);
    return false;
  })();
  return Promise.race([written, turns]);
}

describe("pipelined requests", () => {
  it("are handled one after another, and get their responses in order", async () => {
    const { handler, handled, release } = holdFirst();
    const port = await start(handler);
    const client = connectTo(port);
    client.send(get("/held") + get("/1") + get("/2") + last);
    await turnOf(port);
    expect(handled.filter((path) => path !== "/last")).toEqual(["/held"]);
    release();
    const answers = await client.closed;
    expect(answers.match(bodies)).toEqual(["/held;", "/1;", "/2;", "/last;"]);
    expect(reported).toEqual([]);
  });

  it("all get a response, however many there are", async () => {
    let count = 0;
    const port = await start(async (request) => {
      await Promise.resolve();
      count += 1;
      return text(`${pathOf(request)};`);
    });
    const client = connectTo(port);
    client.send(get("/1").repeat(5_000) + last);
    expect((await client.closed).match(bodies)).toHaveLength(5_001);
    expect(count).toBe(5_001);
  });

  it("are not handled while their client reads no response", async () => {
    const large = "x".repeat(1_000_000);
    let count = 0;
    const port = await start((request) => {
      if (pathOf(request) === "/last") return text("");
      count += 1;
      return text(large);
    });
    const client = connectTo(port);
    client.socket.pause();
    await new Promise<void>((resolve) => {
      client.socket.write(get("/large").repeat(1_500), () => resolve());
    });
    await turnOf(port);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(50);
  });

  it("are not read without limit while an earlier one is handled", async () => {
    const { handler, release } = holdFirst();
    const port = await start(handler);
    const client = connectTo(port);
    expect(await isWholeRead(client, port, get("/held") + padded.repeat(16_000))).toBe(false);
    release();
  });

  it.each([
    ["of any kind", ""],
    ["with an unknown expectation", "Expect: tea\r\n"],
  ])("%s are not read without limit behind a rejected one", async (_kind, field) => {
    const { handler, release } = holdFirst();
    const port = await start(handler);
    const client = connectTo(port);
    const rejected = "GET / HTTP/1.1\r\n\r\n";
    const ignored = padded.replace("\r\n\r\n", `\r\n${field}\r\n`).repeat(16_000);
    expect(await isWholeRead(client, port, get("/held") + rejected + ignored)).toBe(false);
    release();
  });

  it("are not handled when their client leaves before", async () => {
    const { handler, handled, release } = holdFirst();
    const port = await start(handler);
    const client = connectTo(port);
    client.send(get("/held") + get("/1"));
    await turnOf(port);
    client.reset();
    await client.closed;
    await turnOf(port);
    release();
    await turnOf(port);
    expect(handled.filter((path) => path !== "/last")).toEqual(["/held"]);
    expect(reported).toEqual([]);
  });

  it("have their bodies", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const port = await start(async (request) => {
      const length = (await request.text()).length;
      if (pathOf(request) === "/held") await released;
      return text(`${length};`);
    });
    const client = connectTo(port);
    const post = (path: string, size: number): string =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${"a".repeat(size)}`;
    client.send(post("/held", 3) + post("/1", 400_000) + post("/2", 5) + last);
    release();
    expect((await client.closed).match(/\b\d+;/g)).toEqual(["3;", "400000;", "5;", "0;"]);
  });

  it("get their responses before an invalid one behind them is rejected", async () => {
    const { handler, release } = holdFirst();
    const port = await start(handler);
    const client = connectTo(port);
    client.send(`${get("/held")}${get("/1")}GET / HTTP/1.1\r\n\r\n${get("/2")}`);
    await turnOf(port);
    release();
    const answers = await client.closed;
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(
      ["200", "200", "400"].map((status) => `HTTP/1.1 ${status}`),
    );
    expect(answers.match(bodies)).toEqual(["/held;", "/1;"]);
  });

  it.each([
    ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an upgrade", "GET /up HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"],
  ])("do not get the response to %s behind them", async (_what, takeover) => {
    const { handler, release } = holdFirst();
    const port = await start(handler, (_request, socket) => {
      socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    });
    expect(await exchange(port, get("/held") + takeover)).toBe("");
    release();
    const rejected = await exchange(port, `GET / HTTP/1.1\r\n\r\n${takeover}`);
    expect(rejected.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  });

  it("do not prevent the response to the last request when more follow it", async () => {
    const { handler, handled, release } = holdFirst();
    const port = await start(handler);
    const client = connectTo(port);
    const held = "GET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    client.send(held + get("/1"));
    await turnOf(port);
    client.send(get("/2"));
    await turnOf(port);
    release();
    expect((await client.closed).match(bodies)).toEqual(["/held;"]);
    expect(handled.filter((path) => path !== "/last")).toEqual(["/held"]);
  });
});
