import {
  brotliDecompressSync,
  gunzipSync,
  zstdDecompressSync,
  createGunzip,
  constants,
} from "node:zlib";
import { createContext, empty, json, text, wrap, type Handler } from "@fetchwork/http";
import { replaceBody } from "@fetchwork/http/internal";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compress, gzip, type CompressOptions } from "../../../src/index.ts";

const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(40);

afterEach(() => {
  vi.restoreAllMocks();
});

function ask(accept: string | undefined, method = "GET"): Request {
  const headers = accept === undefined ? {} : { "accept-encoding": accept };
  return new Request("http://localhost/", { method, headers });
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** A stream of text, one chunk each time it is asked. */
function streamOf(...chunks: readonly string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const rest = chunks.map((chunk) => new TextEncoder().encode(chunk));
  return new ReadableStream(
    {
      pull(controller) {
        const chunk = rest.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
}

describe("compress refuses", () => {
  it.each<[string, unknown]>([
    ["no codings", { encodings: [] }],
    ["an unknown coding", { encodings: ["deflate"] }],
    ["an empty type", { types: ["text/html", " "] }],
    ["types that are no list", { types: "text/html" }],
    ["a negative threshold", { threshold: -1 }],
    ["a broken threshold", { threshold: 0.5 }],
  ])("%s", (_case, options) => {
    expect(() => compress(options as CompressOptions)).toThrow(
      expect.objectContaining({ name: "MiddlewareError", code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("an empty type of gzip", () => {
    expect(() => gzip("")).toThrow(/type must be .*, got ""/);
  });
});

describe("A10: gzip compresses", () => {
  const handlers: [string, Handler][] = [
    ["application/json", () => json({ lorem })],
    ["tiny JSON (no least size)", () => json({ a: 1 })],
    [
      "text/html with parameters",
      () => text(lorem, { headers: { "content-type": "text/html; charset=utf-8" } }),
    ],
    ["a type in capitals", () => text(lorem, { headers: { "content-type": "TEXT/HTML" } })],
    [
      "a type that begins like a listed one",
      () => text(lorem, { headers: { "content-type": "application/json-seq" } }),
    ],
    [
      "text without a type, judged by its first bytes",
      () => new Response(new TextEncoder().encode(lorem)),
    ],
    [
      "a stream of text without a type",
      () => new Response(streamOf(lorem.slice(0, 9), lorem.slice(9))),
    ],
    ["a text without a type", () => withBody(lorem)],
    ["bytes", () => withBody(new TextEncoder().encode(lorem))],
    ["a platform's response", () => Response.json({ lorem })],
    ["an async handler", async () => json({ lorem })],
    ["status 201", () => json({ lorem }, { status: 201, statusText: "Made" })],
    ["an error", () => json({ lorem }, { status: 500 })],
    [
      "identity as Content-Encoding",
      () => text(lorem, { headers: { "content-encoding": "identity" } }),
    ],
  ];

  it.each(handlers)("%s", async (_case, handler) => {
    const plain = await wrap(handler)(ask(undefined));
    const response = await wrap(handler, gzip())(ask("gzip"));
    const body = await bytesOf(response);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect([response.status, response.statusText]).toEqual([plain.status, plain.statusText]);
    expect(gunzipSync(body).equals(await bytesOf(plain))).toBe(true);
    if (body.length > 200) expect(body.length).toBeLessThan(lorem.length / 2);
  });

  it("does not send the type that it has guessed", async () => {
    const response = await wrap(() => new Response(streamOf(lorem)), gzip())(ask("gzip"));
    expect(response.headers.has("content-type")).toBe(false);
  });

  it("passes a response on as it is when its Content-Length is below the threshold", async () => {
    const made = new Response("short", {
      headers: { "content-length": "5", "content-type": "text/plain" },
    });
    const response = await wrap(() => made, compress())(ask("gzip"));
    expect(response).toBe(made);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(await response.text()).toBe("short");
  });

  it("removes Content-Length and Accept-Ranges, and weakens a strong ETag", async () => {
    for (const [before, after] of [
      ['"a"', 'W/"a"'],
      ['W/"a"', 'W/"a"'],
    ] as const) {
      const headers = {
        etag: before,
        "content-length": String(lorem.length),
        "accept-ranges": "bytes",
        "content-type": "text/html",
      };
      const response = await wrap(
        () => new Response(streamOf(lorem), { headers }),
        gzip(),
      )(ask("gzip"));
      expect(response.headers.get("etag")).toBe(after);
      expect(response.headers.has("content-length")).toBe(false);
      expect(response.headers.has("accept-ranges")).toBe(false);
    }
  });

  it("keeps every Set-Cookie and merges Vary", async () => {
    const handler: Handler = () => {
      const headers = new Headers({ vary: "Origin" });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      return json({ lorem }, { headers });
    };
    const response = await wrap(handler, gzip())(ask("gzip"));
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("vary")).toBe("Origin, Accept-Encoding");
  });

  it("compresses one shared response for each of two clients", async () => {
    const shared = json({ lorem });
    const handler = wrap(() => shared, gzip());
    for (const accept of ["gzip", undefined, "gzip"]) {
      const body = await bytesOf(await handler(ask(accept)));
      const plain = accept === undefined ? body : gunzipSync(body);
      expect(JSON.parse(plain.toString())).toEqual({ lorem });
    }
  });

  it("compresses the listed types instead of the default ones", async () => {
    const handler = wrap(
      ({ url }) => text(lorem, { headers: { "content-type": new URL(url).search.slice(1) } }),
      gzip("Application/X-Custom"),
    );
    const codings = await Promise.all(
      ["application/x-custom", "text/html"].map(async (type) => {
        const request = new Request(`http://localhost/?${type}`, {
          headers: { "accept-encoding": "gzip" },
        });
        return (await handler(request)).headers.get("content-encoding");
      }),
    );
    expect(codings).toEqual(["gzip", null]);
  });
});

describe("A10: gzip leaves alone, with Vary,", () => {
  const bytes = new Uint8Array(2000).map((_value, index) => index % 256);
  const handlers: [string, Handler, string?, string?][] = [
    ["a client that does not accept it", () => text(lorem), "br"],
    ["a client that says nothing", () => text(lorem), ""],
    [
      "application/octet-stream",
      () => new Response(bytes, { headers: { "content-type": "application/octet-stream" } }),
    ],
    ["image/png", () => withBody(bytes, "image/png")],
    ["bytes without a type", () => new Response(bytes)],
    ["a stream of bytes without a type", () => new Response(new Blob([bytes]).stream())],
    ["bytes of replaceBody() without a type", () => withBody(bytes)],
    ["an empty stream without a type", () => new Response(streamOf())],
    ["204", () => empty(204)],
    ["205", () => empty(205)],
    ["304", () => empty(304, { headers: { etag: '"a"' } })],
    ["206", () => text(lorem, { status: 206 })],
    [
      "Content-Range",
      () => text(lorem, { status: 416, headers: { "content-range": "bytes */1" } }),
    ],
    ["Content-Encoding", () => text(lorem, { headers: { "content-encoding": "br" } })],
    ["no-transform", () => text(lorem, { headers: { "cache-control": "private, No-Transform" } })],
    ["an empty body", () => text("")],
    [
      "201 without a body",
      () => new Response(null, { status: 201, headers: { "content-type": "application/json" } }),
    ],
    ["an empty platform body", () => new Response("", { headers: { "content-length": "0" } })],
    ["HEAD of bytes", () => withBody(bytes), "gzip", "HEAD"],
    ["HEAD without type and body", () => empty(200), "gzip", "HEAD"],
  ];

  it.each(handlers)("%s", async (_case, handler, accept = "gzip", method = "GET") => {
    const plain = await wrap(handler)(ask(undefined, method));
    const response = await wrap(handler, gzip())(ask(accept, method));
    const { vary, ...headers } = Object.fromEntries(response.headers);
    expect(vary).toBe("Accept-Encoding");
    // srvx names type and length of a body only when it is sent.
    for (const [name, value] of plain.headers) expect(headers[name]).toBe(value);
    expect(headers["content-encoding"] ?? null).toBe(plain.headers.get("content-encoding"));
    expect(response.status).toBe(plain.status);
    expect((await bytesOf(response)).equals(await bytesOf(plain))).toBe(true);
  });

  it("the type of the request", async () => {
    const request = new Request("http://localhost/", {
      method: "POST",
      headers: { "accept-encoding": "gzip", "content-type": "application/json" },
    });
    const handler = () => new Response(bytes, { headers: { "content-type": "image/png" } });
    const response = await wrap(handler, gzip())(request);
    expect(response.headers.has("content-encoding")).toBe(false);
  });

  it("a response whose body is used, which the server then reports", async () => {
    const used = new Response(lorem);
    await used.text();
    const response = await wrap(() => used, gzip())(ask("gzip"));
    expect(response.headers.has("content-encoding")).toBe(false);
    expect(response.bodyUsed).toBe(true);
  });

  it("what the handler throws", async () => {
    const fails: Handler = () => {
      throw new Error("before the head");
    };
    expect(() => wrap(fails, gzip())(ask("gzip"))).toThrow("before the head");
    await expect(
      wrap(async () => Promise.reject(new Error("later")), gzip())(ask("gzip")),
    ).rejects.toThrow("later");
  });
});

describe("HEAD", () => {
  it.each<[string, Handler]>([
    ["a body that is there", () => json({ lorem })],
    ["a stream", () => new Response(streamOf(lorem), { headers: { "content-type": "text/html" } })],
    [
      "only the headers",
      () => empty(200, { headers: { "content-type": "text/html", "content-length": "5000" } }),
    ],
    ["text without a type", () => withBody(new TextEncoder().encode(lorem))],
  ])("gets the headers of the GET: %s", async (_case, handler) => {
    const response = await wrap(handler, gzip())(ask("gzip", "HEAD"));
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.has("content-length")).toBe(false);
    expect((await bytesOf(response)).length).toBe(0);
  });
});

describe("compress", () => {
  it.each<[string, string, (body: Buffer) => Buffer]>([
    ["gzip, deflate, br, zstd", "zstd", zstdDecompressSync],
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["br;q=0.5, gzip;q=0.6", "gzip", gunzipSync],
  ])("responds to %s with %s, whole, large and in chunks", async (accept, coding, decode) => {
    const large = lorem.repeat(100);
    for (const handler of [
      () => text(lorem),
      () => text(large),
      () =>
        new Response(streamOf(large, lorem, large), { headers: { "content-type": "text/plain" } }),
      () => new Response(streamOf(lorem), { headers: { "content-type": "text/plain" } }),
      () => new Response(streamOf(), { headers: { "content-type": "text/event-stream" } }),
    ]) {
      const plain = await handler().text();
      const response = await wrap(handler, compress())(ask(accept));
      expect(response.headers.get("content-encoding")).toBe(coding);
      expect(decode(await bytesOf(response)).toString()).toBe(plain);
    }
  });

  it("does not compress a body below the threshold, also for HEAD", async () => {
    const handler = wrap(
      ({ url }) => text("a".repeat(Number(new URL(url).search.slice(1)))),
      compress(),
    );
    for (const [size, coding] of [
      [1023, null],
      [1024, "gzip"],
    ] as const) {
      for (const method of ["GET", "HEAD"]) {
        const request = new Request(`http://localhost/?${size}`, {
          method,
          headers: { "accept-encoding": "gzip" },
        });
        expect((await handler(request)).headers.get("content-encoding")).toBe(coding);
      }
    }
  });

  it("does not compress a native response below the threshold, as it does not that of text()", async () => {
    const init = { headers: { "content-type": "text/plain" } };
    const made: Record<string, (size: number) => Response> = {
      "a text": (size) => new Response("a".repeat(size), init),
      bytes: (size) => new Response(new Uint8Array(size).fill(97), init),
      "a text without a type": (size) => {
        const response = new Response("a".repeat(size));
        response.headers.delete("content-type");
        return response;
      },
      JSON: (size) => Response.json("a".repeat(size - 2)),
      "chunks of one byte": (size) => new Response(streamOf(...Array(size).fill("a")), init),
    };
    for (const [name, make] of Object.entries(made)) {
      for (const [size, coding] of [
        [100, null],
        [1023, null],
        [1024, "gzip"],
      ] as const) {
        for (const method of name === "a text without a type" ? ["GET"] : ["GET", "HEAD"]) {
          const response = await wrap(() => make(size), compress())(ask("gzip", method));
          expect([name, size, method, response.headers.get("content-encoding")]).toEqual([
            name,
            size,
            method,
            coding,
          ]);
          expect(response.headers.get("vary")).toBe("Accept-Encoding");
          if (method === "HEAD") continue;
          const bytes = await bytesOf(response);
          expect((coding === null ? bytes : gunzipSync(bytes)).toString()).toBe(
            await make(size).text(),
          );
        }
      }
    }
  });

  it("does not wait for a chunk to find whether a stream is small, and passes its failure on", async () => {
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
    const init = { headers: { "content-type": "text/html" } };
    const handler = wrap(() => new Response(readable, init), compress());
    const response = await handler(ask("gzip"));
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const writer = writable.getWriter();
    void writer.write(new TextEncoder().encode("late")).catch(() => undefined);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const failed = reader?.read();
    await Promise.all([
      expect(failed).rejects.toThrow("broken"),
      writer.abort(new Error("broken")),
    ]);
  });

  it("compresses a small body at once, and a large one on another thread", async () => {
    const handler = compress()(({ url }) => text(lorem.repeat(url.endsWith("large") ? 15 : 14)));
    const requests = ["small", "large"].map(
      (path) => new Request(`http://localhost/${path}`, { headers: { "accept-encoding": "gzip" } }),
    );
    const results = requests.map((request) => handler(request, createContext(request)));
    expect(results[0]).toBeInstanceOf(Response);
    expect(results[1]).toBeInstanceOf(Promise);
    await results[1];
  });

  it("does nothing inside another compress()", async () => {
    const response = await wrap(() => text(lorem), gzip(), compress(), gzip())(ask("br, gzip"));
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(gunzipSync(await bytesOf(response)).toString()).toBe(lorem);
  });

  it("offers only the listed encodings", async () => {
    const response = await wrap(
      () => text(lorem),
      compress({ encodings: ["br"] }),
    )(ask("gzip, zstd"));
    expect(response.headers.has("content-encoding")).toBe(false);
  });
});

describe("a compressed stream", () => {
  it("passes each chunk on as it arrives", async () => {
    const { readable, writable } = new TransformStream<Uint8Array>();
    const writer = writable.getWriter();
    const handler = (): Response =>
      new Response(readable, { headers: { "content-type": "text/event-stream" } });
    const response = await wrap(handler, compress())(ask("gzip"));
    const reader = response.body?.getReader();
    const gunzip = createGunzip({ flush: constants.Z_SYNC_FLUSH });
    for (let index = 0; index < 5; index += 1) {
      void writer.write(new TextEncoder().encode(`data: chunk-${index}\n\n`));
      const chunk = await reader?.read();
      gunzip.write(chunk?.value);
      const decoded: unknown = await new Promise((resolve) => {
        gunzip.once("data", resolve);
      });
      expect(String(decoded)).toBe(`data: chunk-${index}\n\n`);
    }
    await reader?.cancel();
    gunzip.destroy();
  });

  it("reads no more of its source than the reader reads", async () => {
    let pulled = 0;
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new TextEncoder().encode(lorem));
        },
      },
      { highWaterMark: 0 },
    );
    const handler = (): Response =>
      new Response(source, { headers: { "content-type": "text/html" } });
    const response = await wrap(handler, gzip())(ask("gzip"));
    expect(pulled).toBe(0);
    const reader = response.body?.getReader();
    for (let index = 0; index < 3; index += 1) await reader?.read();
    expect(pulled).toBeLessThanOrEqual(4);
    await reader?.cancel();
  });

  it("cancels its source when it is cancelled, with the reason", async () => {
    for (const reads of [0, 1, 3]) {
      const cancel = vi.fn();
      const source = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new TextEncoder().encode(lorem)),
        cancel,
      });
      const handler = (): Response =>
        new Response(source, { headers: { "content-type": "text/html" } });
      const response = await wrap(handler, gzip())(ask("gzip"));
      const reader = response.body?.getReader();
      for (let index = 0; index < reads; index += 1) await reader?.read();
      await reader?.cancel("gone");
      expect(cancel).toHaveBeenCalledExactlyOnceWith("gone");
    }
  });

  it("fails when its source fails", async () => {
    for (const chunks of [0, 1, 2]) {
      let left = chunks;
      const source = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left === 0) throw new Error("broken");
          left -= 1;
          controller.enqueue(new TextEncoder().encode(lorem));
        },
      });
      const handler = (): Response =>
        new Response(source, { headers: { "content-type": "text/html" } });
      const response = await wrap(handler, gzip())(ask("gzip"));
      await expect(response.arrayBuffer()).rejects.toThrow("broken");
    }
  });

  it("stops waiting for the first bytes of a body without a type when the client leaves", async () => {
    const cancel = vi.fn();
    const source = new ReadableStream<Uint8Array>({ cancel });
    const client = new AbortController();
    const request = ask("gzip");
    const context = createContext(request, { signal: client.signal });
    const answered = wrap(() => new Response(source), gzip())(request, context);
    client.abort(new Error("gone"));
    expect(await (await answered).text()).toBe("");
    expect(cancel).toHaveBeenCalledOnce();
  });
});

describe("without zlib", () => {
  const noZlib = (): void => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  };

  it("compresses with the platform's gzip, and nothing else", async () => {
    noZlib();
    const middleware = compress();
    for (const handler of [() => text(lorem), () => Response.json(lorem)]) {
      const response = await wrap(handler, middleware)(ask("br, zstd, gzip;q=0.5"));
      expect(response.headers.get("content-encoding")).toBe("gzip");
      expect(gunzipSync(await bytesOf(response)).length).toBeGreaterThan(lorem.length - 1);
    }
    expect(
      (await wrap(() => text(lorem), middleware)(ask("br"))).headers.has("content-encoding"),
    ).toBe(false);
  });

  it("does not compress event streams and NDJSON, because nothing would be flushed", async () => {
    noZlib();
    const middleware = compress();
    for (const type of ["text/event-stream", "application/x-ndjson; charset=utf-8"]) {
      const handler = (): Response =>
        new Response(streamOf("a"), { headers: { "content-type": type } });
      const response = await wrap(handler, middleware)(ask("gzip"));
      expect(await response.text()).toBe("a");
    }
  });
});

function withBody(body: string | Uint8Array<ArrayBuffer>, type?: string): Response {
  const headers = new Headers(type === undefined ? {} : { "content-type": type });
  return replaceBody(new Response(null), body, headers);
}
