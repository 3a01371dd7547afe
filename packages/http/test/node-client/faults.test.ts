import { gzipSync } from "node:zlib";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ByteCollector } from "@fetchwork/kit";
import {
  ConnectionError,
  ProtocolError,
  TimeoutError,
  TooLargeError,
  TransportError,
} from "../../src/client/transport/transport-errors.ts";
import type { Transport } from "../../src/client/transport/transport.ts";
import { undiciTransport } from "../../src/node/client/index.ts";
import { closed, startRaw, type RawServer } from "./raw-server.ts";
import { rejectionOf, requestOf, textOf, valuesOf } from "./requests.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
let server: RawServer;
let transport: Transport;

afterEach(async () => {
  await server.close();
  await transport.close();
});

async function start(
  onRequest: (socket: Socket, head: string, connection: number) => void,
  onConnection?: (socket: Socket) => void,
): Promise<void> {
  server = await startRaw(onRequest, onConnection);
  transport = undiciTransport({ proxy: false });
}

describe("a server that resets", () => {
  it("before it reads is a reset", async () => {
    await start(
      () => undefined,
      (socket) => socket.resetAndDestroy(),
    );
    const error = await rejectionOf(transport.exchange(requestOf(`${server.url}/a?key=secret`)));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ reason: "reset", url: `${server.url}/a?key=…` });
    expect(inspect(error, { depth: 9 })).not.toContain("secret");
  });

  it.each([
    ["instead of an answer", ""],
    ["within the head", "HTTP/1.1 200 OK\r\nContent-Le"],
  ])("%s is a reset, and the request is sent once", async (_, written) => {
    await start((socket) => socket.write(written, () => socket.resetAndDestroy()));
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "reset" });
    expect(server.sockets).toHaveLength(1);
  });

  it.each(["", "he"])("after the head and %j is a reset", async (body) => {
    await start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n${body}`);
    });
    const response = await transport.stream(requestOf(server.url));
    const reader = response.body.getReader();
    if (body !== "") await reader.read();
    server.sockets[0]?.resetAndDestroy();
    const error = await rejectionOf(reader.read());
    expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "reset" });
  });
});

describe("a server that closes", () => {
  it.each([
    ["before it answers", "", /before it answered/],
    ["within the head", "HTTP/1.1 200 OK\r\nConte", /within its response's head/],
  ])("%s is a reset that says so", async (_, written, message) => {
    await start((socket) => socket.end(written));
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toMatchObject({ code: "ERR_HTTP_CONNECTION", reason: "reset" });
    expect(error.message).toMatch(message);
  });

  it.each([
    ["a Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"],
    ["a Content-Length that is not kept alive", "HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nhel"],
    ["chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"],
    [
      "chunks that are not kept alive",
      "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
    ],
  ])("within a body with %s is a protocol error", async (_, written) => {
    await start((socket) => socket.end(written));
    expect(await rejectionOf(transport.exchange(requestOf(server.url)))).toBeInstanceOf(
      ProtocolError,
    );
    const { body } = await transport.stream(requestOf(server.url));
    expect(await rejectionOf(new Response(body).text())).toBeInstanceOf(ProtocolError);
  });

  it("at the end of a body without a length ends it", async () => {
    await start((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
    const { body } = await transport.exchange(requestOf(server.url));
    expect(textOf(body)).toBe("all of it");
  });
});

describe("a server that does not speak HTTP", () => {
  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["a page without a head", "<html>secret</html>\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nab"],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"],
    ["a bare line feed in a name", "HTTP/1.1 200 OK\r\nA\nB: c\r\nContent-Length: 0\r\n\r\n"],
    [
      "a switch of protocols",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ],
  ])("but %s is refused without showing it", async (_, written) => {
    await start((socket) => socket.write(written));
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(inspect(error, { depth: 9 })).not.toContain("secret");
    expect(inspect(error, { depth: 9 })).not.toContain("UND_ERR");
    await closed(server.sockets[0]);
  });

  it("never makes more than a response or an error of it", async () => {
    let answer = "";
    await start((socket) => socket.end(answer, "latin1"));
    const piece = fc.constantFrom(
      "HTTP/1.1 ",
      "200 OK",
      "\r\n",
      "\n",
      "Content-Length: 3",
      "Transfer-Encoding: chunked",
      "Content-Encoding: gzip",
      "3\r\nabc\r\n",
      "0\r\n\r\n",
      "abc",
      "\0",
      "é",
      ":",
    );
    const answers = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
      fc.array(piece, { maxLength: 8 }).map((pieces) => `HTTP/1.1 200 OK\r\n${pieces.join("")}`),
    );
    await fc.assert(
      fc.asyncProperty(answers, async (text) => {
        answer = text;
        const outcome = await transport
          .exchange(requestOf(server.url))
          .catch((error: unknown) => error);
        expect(
          outcome instanceof TransportError || (outcome as { status: number }).status >= 200,
        ).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a response's length", () => {
  it("counts when more bytes follow, and the connection is not used again", async () => {
    await start((socket) =>
      socket.write(`${ok}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged`),
    );
    const first = await transport.exchange(requestOf(server.url));
    expect(textOf(first.body)).toBe("ok");
    await closed(server.sockets[0]);
    const second = await transport.exchange(requestOf(server.url));
    expect(textOf(second.body)).toBe("ok");
    expect(server.sockets).toHaveLength(2);
  });

  it.each(["HEAD", "GET"])("of a 304 or HEAD is not waited for (%s)", async (method) => {
    await start((socket) => {
      const status = method === "HEAD" ? "200 OK" : "304 Not Modified";
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Length: 2000000\r\nContent-Encoding: gzip\r\n\r\n`,
      );
    });
    const { body, headers } = await transport.exchange(requestOf(server.url, { method }));
    expect(body.byteLength).toBe(0);
    expect(valuesOf(headers, "content-length")).toEqual(["2000000"]);
  });
});

describe("a response that is too large", () => {
  it("is refused by its length before it is read", async () => {
    await start((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"));
    const error = await rejectionOf(
      transport.exchange(requestOf(server.url, { maxResponseSize: 1_000 })),
    );
    expect(error).toBeInstanceOf(TooLargeError);
    expect(error).toMatchObject({ limit: 1_000 });
    await closed(server.sockets[0]);
  });

  it("is refused while it is read when it does not say its length", async () => {
    await start((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const more = (): void => void (socket.writable && socket.write("x".repeat(600), more));
      more();
    });
    const small = { maxResponseSize: 1_000 };
    expect(await rejectionOf(transport.exchange(requestOf(server.url, small)))).toBeInstanceOf(
      TooLargeError,
    );
    const { body } = await transport.stream(requestOf(server.url, small));
    expect(await rejectionOf(new Response(body).text())).toBeInstanceOf(TooLargeError);
    await Promise.all(server.sockets.map(closed));
  });

  it("may be exactly as large as allowed", async () => {
    await start((socket) => socket.write(ok));
    const { body } = await transport.exchange(requestOf(server.url, { maxResponseSize: 2 }));
    expect(textOf(body)).toBe("ok");
  });

  it.each([
    ["read whole", 2_000_000],
    ["read whole on a thread", 60_000_000],
  ])("after decompression is refused (%s)", async (_, size) => {
    const bomb = gzipSync(Buffer.alloc(size));
    await start((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`,
      );
      socket.write(bomb);
    });
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toBeInstanceOf(TooLargeError);
    const { body } = await transport.stream(requestOf(server.url));
    expect(await rejectionOf(new Response(body).arrayBuffer())).toBeInstanceOf(TooLargeError);
  });

  it("in its head is refused", async () => {
    await start((socket) => socket.write(`HTTP/1.1 200 OK\r\nA: ${"x".repeat(20_000)}\r\n\r\n`));
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toBeInstanceOf(TooLargeError);
    expect(error).toMatchObject({ limit: 16_384 });
    expect(error.message).toContain("headers exceed 16384 bytes");
  });

  it("in its head is refused at the limit that was set", async () => {
    await start((socket) => socket.write(`HTTP/1.1 200 OK\r\nA: ${"x".repeat(300)}\r\n\r\n`));
    const strict = undiciTransport({ maxHeaderSize: 256, proxy: false });
    expect(await rejectionOf(strict.exchange(requestOf(server.url)))).toMatchObject({ limit: 256 });
    await strict.close();
  });
});

describe("a slow server", () => {
  const timeouts = { connect: 5_000, headers: 60, body: 60 };

  it("that does not answer meets the limit for the head", async () => {
    await start(() => undefined);
    const error = await rejectionOf(transport.exchange(requestOf(server.url, { timeouts })));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ phase: "headers", limit: 60 });
    await closed(server.sockets[0]);
  });

  it("meets it by a separate timer: undici's are up to a second late", async () => {
    await start(() => undefined);
    const delays = vi.spyOn(globalThis, "setTimeout");
    await rejectionOf(transport.exchange(requestOf(server.url, { timeouts })));
    expect(delays.mock.calls.map(([, delay]) => delay)).toContain(60);
    delays.mockRestore();
  });

  it("that sends its head bit by bit meets it as well", async () => {
    await start((socket) => {
      const timer = setInterval(() => socket.write("A: b\r\n"), 10);
      socket.write("HTTP/1.1 200 OK\r\n");
      socket.on("close", () => clearInterval(timer));
    });
    const error = await rejectionOf(transport.exchange(requestOf(server.url, { timeouts })));
    expect(error).toMatchObject({ code: "ERR_HTTP_TIMEOUT", phase: "headers" });
  });

  it("that stops within the body meets the limit for the body", async () => {
    await start((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"));
    const error = await rejectionOf(transport.exchange(requestOf(server.url, { timeouts })));
    expect(error).toMatchObject({ code: "ERR_HTTP_TIMEOUT", phase: "body", limit: 60 });
    const { body } = await transport.stream(requestOf(server.url, { timeouts }));
    expect(await rejectionOf(new Response(body).text())).toMatchObject({ phase: "body" });
  });

  it("may take its time over a body that keeps coming", async () => {
    await start((socket) => {
      let left = 12;
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
      const timer = setInterval(() => {
        socket.write("x");
        if ((left -= 1) === 0) clearInterval(timer);
      }, 100);
    });
    // The whole takes longer than the limit of each part.
    const patient = { ...timeouts, body: 1_000 };
    const { body } = await transport.exchange(requestOf(server.url, { timeouts: patient }));
    expect(body.byteLength).toBe(12);
  });

  it("has no limit when it is 0", async () => {
    await start((socket) => setTimeout(() => socket.write(ok), 100));
    const without = { connect: 0, headers: 0, body: 0 };
    const { body } = await transport.exchange(requestOf(server.url, { timeouts: without }));
    expect(textOf(body)).toBe("ok");
  });
});

describe("informational responses", () => {
  it.each(["102 Processing", "103 Early Hints"])("%s are passed over", async (status) => {
    await start((socket) => {
      socket.write(`HTTP/1.1 ${status}\r\nLink: </a>\r\n\r\n`.repeat(3));
      socket.write(ok);
    });
    const { body, status: final, headers } = await transport.exchange(requestOf(server.url));
    expect([final, textOf(body), valuesOf(headers, "link")]).toEqual([200, "ok", []]);
  });

  it("100 that nobody asked for is a protocol error, since undici takes it for one", async () => {
    await start((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${ok}`));
    expect(await rejectionOf(transport.exchange(requestOf(server.url)))).toBeInstanceOf(
      ProtocolError,
    );
  });
});

describe("a server that never comes to an end", () => {
  it("of its informational responses meets the limit for the head, a long one too", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    await start((socket) => {
      onAsked();
      const repeat = (): void => {
        if (socket.destroyed) return;
        socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        setImmediate(repeat);
      };
      repeat();
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const timeouts = { connect: 0, headers: 20_000, body: 0 };
      let failure: Error | undefined;
      const failed = rejectionOf(transport.exchange(requestOf(server.url, { timeouts }))).then(
        (error) => (failure = error),
      );
      await asked;
      for (let round = 0; round < 500 && failure === undefined; round += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        vi.advanceTimersByTime(100);
      }
      vi.advanceTimersByTime(20_000);
      expect(await failed).toMatchObject({ name: "TimeoutError", phase: "headers" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("of single bytes costs memory for bytes, not for pieces", async () => {
    const count = 300_000;
    await start((socket) => {
      socket.end(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`,
      );
    });
    const pieces = vi.spyOn(ByteCollector.prototype, "add");
    const { body } = await transport.exchange(requestOf(server.url));
    expect(body.byteLength).toBe(count);
    expect(pieces).toHaveBeenCalledTimes(count);
    pieces.mockRestore();
  });

  it("may not send a status below 100", async () => {
    await start((socket) => socket.end("HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n"));
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error.cause).toBeUndefined();
  });
});

describe("bytes that are no text", () => {
  it("in a body arrive as they are", async () => {
    await start((socket) => {
      socket.write(
        Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xfe\x80a", "latin1"),
      );
    });
    const { body } = await transport.exchange(requestOf(server.url));
    expect([...body]).toEqual([0xff, 0xfe, 0x80, 0x61]);
  });

  it("in a header are one character each", async () => {
    await start((socket) => {
      socket.write(
        Buffer.from("HTTP/1.1 200 OK\r\nA: \xff\xc3\xa9\r\nContent-Length: 0\r\n\r\n", "latin1"),
      );
    });
    const { headers } = await transport.exchange(requestOf(server.url));
    expect(valuesOf(headers, "a")).toEqual(["\xff\xc3\xa9"]);
  });
});

describe("an idle connection that the server closes", () => {
  /**
   * Answers the first request of the first connection; then closes it when the second one arrives.
   */
  async function startClosing(how: "end" | "resetAndDestroy", also: number = 1): Promise<void> {
    const counts: number[] = [];
    await start((socket, _head, connection) => {
      counts[connection] = (counts[connection] ?? 0) + 1;
      if (connection < also && counts[connection] === 2) socket[how]();
      else if (connection > 0 && connection < also) socket[how]();
      else socket.write(ok);
    });
    await transport.close();
    transport = undiciTransport({ proxy: false, connections: 1 });
    await transport.exchange(requestOf(server.url));
  }

  it.each(["end", "resetAndDestroy"] as const)(
    "costs an idempotent request nothing (%s)",
    async (how) => {
      await startClosing(how);
      const { body } = await transport.exchange(
        requestOf(server.url, { method: "PUT", body: "again" }),
      );
      expect(textOf(body)).toBe("ok");
      expect(server.sockets).toHaveLength(2);
      expect(server.received[1]).toContain("again");
    },
  );

  it("fails a POST, which may have been carried out", async () => {
    await startClosing("end");
    const error = await rejectionOf(
      transport.exchange(requestOf(server.url, { method: "POST", body: "once" })),
    );
    expect(error).toMatchObject({ reason: "reset" });
    expect(server.sockets).toHaveLength(1);
  });

  it("fails a stream, which cannot be sent again", async () => {
    await startClosing("end");
    const body = new Blob(["once"]).stream();
    const error = await rejectionOf(
      transport.exchange(requestOf(server.url, { method: "PUT", body })),
    );
    expect(error).toMatchObject({ reason: "reset" });
    expect(server.sockets).toHaveLength(1);
  });

  it("is tried again once, not twice", async () => {
    await startClosing("end", 5);
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toMatchObject({ reason: "reset" });
    expect(server.sockets).toHaveLength(2);
  });

  it("is not used when it was closed before", async () => {
    await start((socket) => socket.write(ok));
    await transport.close();
    transport = undiciTransport({ proxy: false, connections: 1 });
    await transport.exchange(requestOf(server.url));
    server.sockets[0]?.end();
    await closed(server.sockets[0]);
    const { body } = await transport.exchange(
      requestOf(server.url, { method: "POST", body: "safe" }),
    );
    expect(textOf(body)).toBe("ok");
    expect(server.sockets).toHaveLength(2);
  });

  it("is another thing than a fresh one, whose request is sent once", async () => {
    await start((socket) => socket.end());
    await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(server.sockets).toHaveLength(1);
  });
});

describe("a server that is not there", () => {
  it("refuses", async () => {
    await start(() => undefined);
    await server.close();
    const error = await rejectionOf(transport.exchange(requestOf(server.url)));
    expect(error).toMatchObject({ reason: "refused", systemCode: "ECONNREFUSED" });
  });

  it("has no address", async () => {
    await start(() => undefined);
    const lost = undiciTransport({
      proxy: false,
      lookup: (name, _options, callback) => {
        callback(Object.assign(new Error(`ENOTFOUND ${name}`), { code: "ENOTFOUND" }), "");
      },
    });
    const error = await rejectionOf(lost.exchange(requestOf("http://name.invalid/?token=secret")));
    expect(error).toMatchObject({ reason: "dns", systemCode: "ENOTFOUND" });
    expect(error.message).not.toContain("secret");
    await lost.close();
  });
});
