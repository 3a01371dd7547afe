import { afterEach, describe, expect, it } from "vitest";
import { createContext, json, text, type Context } from "../../../src/index.ts";
import {
  fromNodeListener,
  nodeMessages,
  serve,
  writeEarlyHints,
  type RunningServer,
} from "../../../src/node/index.ts";
import { exchange } from "../raw-client.ts";

let server: RunningServer | undefined;

afterEach(async () => {
  await server?.close({ gracePeriod: 0 });
});

const get = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

describe("nodeMessages()", () => {
  it("returns undefined without a server of Node", () => {
    expect(nodeMessages(createContext(new Request("http://a/")))).toBeUndefined();
  });

  it("returns Node's own request and response", async () => {
    server = await serve(
      (_request, context) => {
        const messages = nodeMessages(context);
        return json([messages?.request.url, messages?.response.headersSent]);
      },
      { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 },
    );
    expect(await exchange(server.port, get)).toContain('["/x",false]');
  });

  it("finds them through the context of a middleware", async () => {
    const inner = (context: Context): Context =>
      Object.create(context, { get: { value: context.get.bind(context) } });
    server = await serve(
      (_request, context) => text(nodeMessages(inner(context))?.request.url ?? "none"),
      { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 },
    );
    expect(await exchange(server.port, get)).toMatch(/\/x$/);
  });
});

describe("writeEarlyHints()", () => {
  it("does nothing without a server of Node", () => {
    expect(writeEarlyHints(createContext(new Request("http://a/")), ["</a>"])).toBeUndefined();
  });

  it.each(["</a.css>; rel=preload\r\nX: y", "nonsense"])(
    "rejects %j before anything is sent",
    async (link) => {
      const errors: unknown[] = [];
      server = await serve(
        (_request, context) => {
          writeEarlyHints(context, [link]);
          return text("unreachable");
        },
        {
          port: 0,
          hostname: "127.0.0.1",
          signals: false,
          gracePeriod: 0,
          reportError: (error) => errors.push(error),
        },
      );
      expect(await exchange(server.port, get)).toMatch(/^HTTP\/1\.1 500 /);
      expect(errors).toHaveLength(1);
    },
  );

  it("sends 103 before the response, also for a Node application", async () => {
    server = await serve(
      fromNodeListener((_request, response) => {
        response.writeEarlyHints({ link: "</a.css>; rel=preload; as=style" });
        response.end("ok");
      }),
      { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 },
    );
    expect(await exchange(server.port, get)).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload; as=style\r\n\r\nHTTP\/1\.1 200 OK[^]*ok$/,
    );
  });
});
