import { createContext, empty, finishContext, text, wrap, type Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { LogRecord } from "../../src/observe/log-record.ts";
import { anonymizeIP, logger, type LoggerOptions } from "../../src/observe/logger.ts";

/** Runs one exchange and returns the line of its log, its time and duration replaced. */
async function lineOf(
  options: LoggerOptions,
  request: Request,
  {
    handler = readAll,
    init = {},
  }: { handler?: Handler; init?: Parameters<typeof createContext>[1] } = {},
): Promise<string> {
  let lines = "";
  const context = createContext(request, { peer: "127.0.0.1", ...init });
  const sink = (text: string): void => void (lines += text);
  const response = await wrap(handler, logger({ ...options, sink }))(request, context);
  finishContext(context, { status: response.status, bytes: (await response.bytes()).length });
  await expect.poll(() => lines).not.toBe("");
  expect(lines.split("\n")).toHaveLength(2);
  return lines.replace(/^\S+Z /, "").replace(/ - [\d.]+(ns|µs|ms)/, " - <time>");
}

const readAll: Handler = async (request) => {
  await request.text();
  return text("blah blah");
};
const post = (path: string, body: string): Request =>
  new Request(`http://localhost${path}`, { method: "POST", body });

describe("logger", () => {
  it.each<[string, object]>([
    ["an unknown format", { format: "xml" }],
    ["a sink that is not a function", { sink: "file" }],
    ["a user that is not a function", { user: "me" }],
    ["an address function that is none", { ip: "masked" }],
    ["a body size below zero", { body: { maxSize: -1 } }],
    ["a backend and a format", { backend: () => undefined, format: "json" }],
  ])("refuses %s", (_, options) => {
    expect(() => logger(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each<[string, LoggerOptions, Request, string]>([
    // Research A17, in the shape of the specification (decision 2A.3): no host, address after the
    // duration.
    [
      "everything",
      {
        prefix: "REST",
        body: true,
        ip: (ip) => `${ip}!masked`,
        user: () => "user",
        subject: () => "subj",
      },
      post("/blah?password=secret&key=val&var=123", "1234567890 abcdefg"),
      "[INFO] REST POST - /blah?password=********&key=val&var=123 - 200 (9) - <time> - 127.0.0.1!masked - user - subj - 1234567890 abcdefg\n",
    ],
    ["nothing more", {}, new Request("http://h/a?b#c"), "[INFO] GET - /a?b - 200 (9) - <time>\n"],
    [
      "a body of which only the start is kept",
      { body: { maxSize: 10 } },
      post("/", "1234567890 abcdefg"),
      "[INFO] POST - / - 200 (9) - <time> - 1234567890...\n",
    ],
    [
      "a body of just that size",
      { body: { maxSize: 10 } },
      post("/", "1234567890"),
      "[INFO] POST - / - 200 (9) - <time> - 1234567890\n",
    ],
    [
      "a body that is cut inside a character",
      { body: { maxSize: 2 } },
      post("/", "aé"),
      "[INFO] POST - / - 200 (9) - <time> - a...\n",
    ],
    [
      "a body with line breaks, tabs and colours",
      { body: true },
      post("/", "a\r\n\r\n[ERROR] forged\u001b[31m\t\tb %d"),
      "[INFO] POST - / - 200 (9) - <time> - a [ERROR] forged\\x1b[31m b %d\n",
    ],
    ["an empty body", { body: true }, post("/", ""), "[INFO] POST - / - 200 (9) - <time>\n"],
    [
      "what the body function makes of a cut body",
      { body: { maxSize: 3, transform: (body, cut) => `${body.toUpperCase()}\n${cut}` } },
      post("/", "abcd"),
      "[INFO] POST - / - 200 (9) - <time> - ABC true\n",
    ],
    [
      "a URL that stays encoded, so that nothing in it is a line or a field",
      {},
      new Request("http://h/a%0A%20-%20200?b=%1b[31m%E2%80%A8"),
      "[INFO] GET - /a%0A%20-%20200?b=%1b[31m%E2%80%A8 - 200 (9) - <time>\n",
    ],
    [
      "a user with a line break",
      { user: () => "a\nb\u001bc" },
      new Request("http://h/"),
      "[INFO] GET - / - 200 (9) - <time> - a b\\x1bc\n",
    ],
  ])("logs %s", async (_, options, request, line) => {
    expect(await lineOf(options, request)).toBe(line);
  });

  it("logs the identifier of the exchange, also one that an inner middleware made", async () => {
    const handler: Handler = (_, context) => {
      context.requestId = "made";
      return empty(204);
    };
    const request = new Request("http://h/");
    expect(await lineOf({}, request, { handler })).toBe(
      "[INFO] GET - / - made - 204 (0) - <time>\n",
    );
  });

  it.each([
    ["shows", "abc-1", "abc-1 - "],
    ["leaves out what is not an identifier of", "a [ERROR] b", ""],
  ])("%s the request's X-Request-ID without trace", async (_, id, shown) => {
    const request = new Request("http://h/", { headers: { "x-request-id": id } });
    expect(await lineOf({}, request)).toBe(`[INFO] GET - / - ${shown}200 (9) - <time>\n`);
  });

  it("logs the address that an inner middleware found", async () => {
    const handler: Handler = (_, context) => {
      context.ip = "1.2.3.4";
      return text("x", { status: 503 });
    };
    const request = new Request("http://h/");
    expect(await lineOf({ ip: anonymizeIP }, request, { handler })).toBe(
      "[ERROR] GET - / - 503 (1) - <time> - 1.2.3.0\n",
    );
  });

  it("logs no body by default", async () => {
    const expected = "[INFO] POST - / - 200 (9) - <time>\n";
    expect(await lineOf({}, post("/", "password=1"))).toBe(expected);
    expect(await lineOf({ body: false }, post("/", "password=1"))).toBe(expected);
  });

  it("does not call the body function without a body, nor without body logging", async () => {
    const transform = vi.fn(() => "x");
    await lineOf({ body: { transform } }, new Request("http://h/"));
    await lineOf({ body: { transform } }, post("/", ""));
    expect(transform).not.toHaveBeenCalled();
  });

  it("logs a body in chunks up to the limit, and counts its bytes right", async () => {
    const pieces = (...texts: readonly string[]): Request => {
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const piece of texts) controller.enqueue(new TextEncoder().encode(piece));
          controller.close();
        },
      });
      const init = { method: "POST", body: stream, duplex: "half" };
      return new Request("http://localhost/", init);
    };
    const logged = async (request: Request): Promise<string> =>
      (await lineOf({ body: { maxSize: 6 } }, request)).slice(
        "[INFO] POST - / - 200 (9) - ".length,
      );
    expect(await logged(pieces("ab", "cd", "ef"))).toBe("<time> - abcdef\n");
    expect(await logged(pieces("ab", "cd", "ef", "g"))).toBe("<time> - abcdef...\n");
    expect(await logged(pieces("abcdef", "g"))).toBe("<time> - abcdef...\n");
    expect(await logged(pieces("a", "bcdefgh"))).toBe("<time> - abcdef...\n");
  });

  it("keeps the headers that describe the body, when it logs it", async () => {
    const request = post("/", "abc");
    request.headers.set("content-length", "3");
    const seen = vi.fn();
    const handler: Handler = async ({ headers }) => {
      seen(headers.get("content-length"), headers.get("content-type"));
      return text("x");
    };
    await lineOf({ body: true }, request, { handler });
    expect(seen).toHaveBeenCalledWith("3", "text/plain;charset=UTF-8");
  });

  it("builds no Request of one that a runtime has received, when it logs the body", async () => {
    const incoming = post("/", "sent");
    const build = vi.fn();
    const NativeRequest = globalThis.Request;
    vi.stubGlobal(
      "Request",
      new Proxy(NativeRequest, {
        construct: (target, args) => {
          build();
          return Reflect.construct(target, args) as Request;
        },
      }),
    );
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await lineOf({ body: true }, incoming)).toContain("- sent");
    expect(build).not.toHaveBeenCalled();
  });

  it("passes the whole body to the handler, and logs what it read of it", async () => {
    const handler: Handler = async (request) => text(await request.text());
    const long = "x".repeat(100_000);
    const lines: string[] = [];
    const options = { body: { maxSize: 4 }, sink: (line: string) => void lines.push(line) };
    const response = await wrap(handler, logger(options))(post("/", long));
    expect(await response.text()).toBe(long);
    const ignores: Handler = () => text("ignored it");
    expect(await lineOf({ body: true }, post("/", "unread"), { handler: ignores })).toBe(
      "[INFO] POST - / - 200 (10) - <time>\n",
    );
  });

  it("logs no one-time code, JWT or signature of a query, and masks custom names", async () => {
    const request = new Request("http://localhost/callback?code=SplxlOB&jwt=eyJ.a.b&sig=1&iban=2");
    expect(await lineOf({ maskedKeys: ["iban"] }, request)).toBe(
      "[INFO] GET - /callback?code=********&jwt=********&sig=********&iban=******** - 200 (9) - <time>\n",
    );
  });

  it("writes Apache's combined format, with quotes and controls escaped", async () => {
    const headers = { referer: 'http://h/?token=1&a="', "user-agent": 'a"\\b' };
    const request = new Request("http://localhost/blah?password=1", { headers });
    const line = await lineOf({ format: "combined", user: () => "a b" }, request);
    expect(line.replace(/\[.*?\]/, "[date]")).toBe(
      '127.0.0.1 - a+b [date] "GET /blah?password=******** HTTP/1.1" 200 9 "http://h/?token=********&a=\\"" "a\\"\\\\b"\n',
    );
    expect(line).toMatch(/\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\]/);
  });

  it("writes a dash for what is not known in Apache's combined format", async () => {
    const line = await lineOf({ format: "combined", ip: false }, new Request("http://localhost/"));
    expect(line.replace(/\[.*?\]/, "[date]")).toMatch(
      /^- - - \[date\] "GET \/ HTTP\/1\.1" 200 \d+ "-" "-"\n$/,
    );
  });

  it("writes JSON that parses, one line each", async () => {
    const options = { format: "json", user: () => "a\nb\u2028\u009b", body: true } as const;
    const line = await lineOf(options, post("/a?token=1", "{}\n"));
    expect(line).not.toMatch(/[\u2028\x80-\x9f]/);
    expect(JSON.parse(line)).toMatchObject({
      level: "INFO",
      method: "POST",
      url: "/a?token=********",
      status: 200,
      bytes: 9,
      ip: "127.0.0.1",
      user: "a\nb\u2028\u009b",
      body: "{}\n",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      duration: expect.any(Number),
    });
  });

  it("writes what a format function returns, and passes records to a backend", async () => {
    const format = ({ method, status }: LogRecord): string => `${method} ${status}`;
    expect(await lineOf({ format }, new Request("http://h/"))).toBe("GET 200\n");
    const records: LogRecord[] = [];
    const request = new Request("http://h/a", { headers: { "user-agent": "me" } });
    const handler = wrap(() => empty(), logger({ backend: (record) => void records.push(record) }));
    await handler(request);
    expect(records).toMatchObject([{ url: "/a", status: 204, userAgent: "me", body: undefined }]);
  });

  it("survives a sink and a backend that reject", async () => {
    const report = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const reject = (): unknown => Promise.reject(new Error("disk full"));
    await wrap(() => empty(), logger({ sink: reject }))(new Request("http://h/"));
    await expect.poll(() => report).toHaveBeenCalledTimes(1);
    await wrap(() => empty(), logger({ backend: reject }))(new Request("http://h/"));
    await expect.poll(() => report).toHaveBeenCalledTimes(2);
    report.mockRestore();
  });

  it("writes the lines of one turn together, and survives a sink that throws", async () => {
    const batches: string[] = [];
    const sink = (lines: string): void => {
      batches.push(lines);
      throw new Error("disk full");
    };
    const report = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const handler = wrap(() => empty(), logger({ sink, format: ({ url }) => url }));
    for (const path of ["/1", "/2", "/3"]) await handler(new Request(`http://h${path}`));
    await expect.poll(() => batches).toEqual(["/1\n/2\n/3\n"]);
    expect(report).toHaveBeenCalledTimes(1);
    report.mockRestore();
  });

  it("logs the actual status, bytes and failures", async () => {
    const lines: string[] = [];
    const format = ({ url, status, bytes }: LogRecord): string => `${url} ${status} ${bytes}`;
    const sink = (text: string): void => void lines.push(...text.trimEnd().split("\n"));
    const handler: Handler = ({ url }) => {
      if (url.endsWith("/throws")) throw new Error("broken");
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("a".repeat(1000)));
            controller.enqueue(new TextEncoder().encode("b".repeat(500)));
            controller.close();
          },
        }),
      );
    };
    const options = {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
      reportError: () => undefined,
    };
    await using server = await serve(wrap(handler, logger({ sink, format })), options);
    await (await fetch(`${server.url}stream`)).text();
    await (await fetch(`${server.url}stream`, { method: "HEAD" })).text();
    await (await fetch(`${server.url}throws`)).text();
    await expect.poll(() => lines).toHaveLength(3);
    expect(lines).toEqual([
      "/stream 200 1500",
      "/stream 200 0",
      expect.stringMatching(/^\/throws 500 /),
    ]);
  });

  it("logs a client that leaves before the response as 499", async () => {
    const lines: string[] = [];
    const sink = (text: string): void => void lines.push(text);
    const asker = new AbortController();
    const handler: Handler = () => {
      asker.abort();
      return new Promise(() => undefined);
    };
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };
    await using server = await serve(wrap(handler, logger({ sink })), options);
    await expect(fetch(server.url, { signal: asker.signal })).rejects.toThrow("aborted");
    await expect.poll(() => lines[0]).toMatch(/GET - \/ - 499 \(0\) - .* - aborted\n$/);
  });

  it("logs the exchanges of a client around fetch, with the body that was sent", async () => {
    const lines: string[] = [];
    const sink = (text: string): void => void lines.push(text);
    const echo: Handler = async (request) => text(await request.text(), { status: 202 });
    await using server = await serve(echo, {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    const client = wrap((request) => fetch(request), logger({ sink, body: true }));
    const request = new Request(`${server.url}a`, { method: "POST", body: "hello" });
    const response = await client(request);
    expect(lines).toEqual([]);
    expect(await response.text()).toBe("hello");
    await expect.poll(() => lines[0]).toMatch(/POST - \/a - 202 \(5\) - .* - hello\n$/);
  });
});
