import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { serve, type RunningServer, type UpgradeListener } from "../../../src/node/index.ts";
import { text } from "../../../src/message/response.ts";
import { exchange } from "../raw-client.ts";

let server: RunningServer | undefined;

afterEach(() => server?.close({ gracePeriod: 0 }));

const reported: unknown[] = [];

async function start(onUpgrade?: UpgradeListener): Promise<RunningServer> {
  reported.length = 0;
  server = await serve(() => text("page"), {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    onUpgrade,
    reportError: (error) => reported.push(error),
  });
  return server;
}

/** Asks for another protocol and returns the connection with the first piece of the answer. */
async function upgrade({ port }: RunningServer): Promise<readonly [Socket, string]> {
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8");
  socket.write("GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  const [answer] = (await Promise.race([
    once(socket, "data"),
    once(socket, "close").then(() => [""]),
  ])) as [string];
  return [socket, answer];
}

const echo: UpgradeListener = (request, socket) => {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nX-Url: ${request.url}\r\n\r\n`,
  );
  socket.pipe(socket);
};

describe("serve() with onUpgrade", () => {
  it("rejects a listener that is not a function", () => {
    expect(() => serve(() => text(""), { onUpgrade: "x" as never })).toThrow(
      expect.objectContaining({ code: "ERR_HTTP_OPTION" }),
    );
  });

  it("passes the connection over, and serves other requests as before", async () => {
    const running = await start(echo);
    const [socket, answer] = await upgrade(running);
    expect(answer).toContain("101 Switching Protocols");
    expect(answer).toContain("X-Url: /chat");
    socket.write("hello");
    expect(await once(socket, "data")).toEqual(["hello"]);
    expect(await (await fetch(running.url)).text()).toBe("page");
    socket.destroy();
  });

  it("closes a connection whose listener fails, reports it, and goes on", async () => {
    for (const fail of [
      () => {
        throw new Error("sync");
      },
      () => Promise.reject(new Error("async")),
    ] as const) {
      const running = await start(fail);
      expect((await upgrade(running))[1]).toBe("");
      expect(reported).toHaveLength(1);
      expect(await (await fetch(running.url)).text()).toBe("page");
      await running.close({ gracePeriod: 0 });
    }
  });

  it.each([
    ["two Host headers", "Host: x\r\nHost: y\r\n", 400],
    ["an invalid Host", "Host: x/../y\r\n", 400],
    ["a coded body", "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n", 501],
  ])("rejects an upgrade with %s, as it does other requests", async (_what, fields, status) => {
    const { port } = await start(echo);
    const head = `GET /chat HTTP/1.1\r\n${fields}Connection: Upgrade\r\nUpgrade: echo\r\n\r\n`;
    expect(await exchange(port, head)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("survives clients that reset the connection", async () => {
    const running = await start((_, socket) => {
      socket.write("HTTP/1.1 101 x\r\n\r\n");
    });
    const [socket] = await upgrade(running);
    socket.resetAndDestroy();
    expect(await (await fetch(running.url)).text()).toBe("page");
    expect(reported).toEqual([]);
  });

  it("closes upgraded connections when the grace period is over", async () => {
    const running = await start(echo);
    const [socket] = await upgrade(running);
    const closed = once(socket, "close");
    await running.close({ gracePeriod: 20 });
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});

describe("serve() without onUpgrade", () => {
  it("serves the request as if it did not ask for an upgrade", async () => {
    const [socket, answer] = await upgrade(await start());
    expect(answer).toContain("200 OK");
    socket.destroy();
  });
});
