import { describe, expect, it } from "vitest";
import {
  buildRequestObject,
  Client,
  deriveRequest,
  json,
  mockTransport,
  wrap,
} from "../src/index.ts";
import { serve, toNodeListener } from "../src/node/index.ts";
import { undiciTransport } from "../src/node/client/index.ts";

const handler = (): Response => json(1);
const request = new Request("http://a/");
// A program in JavaScript, or one that builds its options, is not stopped by TypeScript.
const options = (given: object): never => given as never;

it("toNodeListener() refuses a reportError that is not a function", () => {
  expect(() => toNodeListener(handler, options({ reportError: "log" }))).toThrow(
    expect.objectContaining({ code: "ERR_HTTP_OPTION" }),
  );
});

it.each(["accept: */*", 1, true, null])("Client refuses headers that are %j", (headers) => {
  expect(() => new Client(options({ headers }))).toThrow(
    expect.objectContaining({ code: "ERR_HTTP_HEADER" }),
  );
});

const mistakes: [string, () => unknown, string][] = [
  ["serve()", () => serve(handler, options({ hostName: "127.0.0.1" })), "hostname"],
  ["serve()", () => serve(handler, options({ maxRequestBodysize: 1 })), "maxRequestBodySize"],
  ["tls of serve()", () => serve(handler, options({ tls: { keys: "" } })), "key"],
  ["toNodeListener()", () => toNodeListener(handler, options({ reportErrors: 1 })), "reportError"],
  ["deriveRequest()", () => deriveRequest(request, options({ header: {} })), "headers"],
  ["Client", () => new Client(options({ retrys: 3 })), "retry"],
  ["Client", () => new Client(options({ baseURL: "http://a" })), "baseUrl"],
  ["Client", () => new Client(options({ transports: {} })), "transport"],
  ["extend()", () => new Client().extend(options({ baseUri: "http://a" })), "baseUrl"],
  ["timeout", () => new Client({ timeout: options({ totl: 1 }) }), "total"],
  ["retry", () => new Client({ retry: options({ retrys: 1 }) }), "retries"],
  ["redirect", () => new Client({ redirect: options({ maxx: 1 }) }), "max"],
  ["hooks", () => new Client({ hooks: options({ onErrors: handler }) }), "onError"],
  ["logger", () => new Client({ logger: options({ maskedHeader: [] }) }), "maskedHeaders"],
  ["a request", () => buildRequestObject(options({ baseUrl: "http://a", bodi: 1 })), "body"],
  ["undiciTransport()", () => undiciTransport(options({ htpp2: true })), "http2"],
  [
    "tls",
    () => undiciTransport({ tls: options({ rejectUnauthorised: false }) }),
    "rejectUnauthorized",
  ],
  [
    "proxy",
    () => undiciTransport({ proxy: options({ url: "http://a", authorisation: "x" }) }),
    "authorization",
  ],
];

it.each(mistakes)("%s rejects an unknown option at once: case %#", (_, call, meant) => {
  expect(call).toThrow(
    expect.objectContaining({
      code: "ERR_HTTP_OPTION",
      message: expect.stringContaining(`did you mean "${meant}"?`),
    }),
  );
});

it("close() of a server rejects an unknown option", async () => {
  await using server = await serve(handler, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  expect(() => server.close(options({ gracePeriods: 1 }))).toThrow('did you mean "gracePeriod"?');
});

describe("send()", () => {
  const client = new Client({ transport: mockTransport(handler) });

  it("rejects an unknown option", async () => {
    const sent = client.send({ baseUrl: "http://a/" }, options({ redirects: 1 }));
    await expect(sent).rejects.toMatchObject({
      code: "ERR_HTTP_OPTION",
      message: 'send has no option "redirects", did you mean "redirect"?',
    });
  });

  it("rejects a request with a member that it would ignore", async () => {
    const sent = client.send(options({ baseUrl: "http://a/", queryparams: { a: "1" } }));
    await expect(sent).rejects.toMatchObject({
      code: "ERR_HTTP_OPTION",
      message: 'a request has no option "queryparams", did you mean "queryParams"?',
    });
  });

  it.each(["retry", "signal", "throwOnStatus", "timeout"])(
    "says of the option %s in a request that it belongs to the second argument",
    async (name) => {
      const sent = client.send(options({ baseUrl: "http://a/", [name]: 1 }));
      await expect(sent).rejects.toMatchObject({
        code: "ERR_HTTP_OPTION",
        message: `${name} is an option of the second argument, not a member of a request`,
      });
    },
  );

  it("accepts what endpoint() leaves in its request for others", async () => {
    const sent = client.send({ method: "GET", url: "http://a/", request: { hook: 1 } });
    expect((await sent).statusCode).toBe(200);
  });
});

describe("wrap()", () => {
  it("names the middleware that does not return a handler, for example because it must be called first", () => {
    function cors(): object {
      return {};
    }
    expect(() => wrap(handler, cors as never)).toThrow(
      expect.objectContaining({
        code: "ERR_HTTP_HANDLER",
        message: "middleware 1 must return a handler, got an object; did you mean cors()?",
      }),
    );
  });

  it("explains at the first request that a factory of middlewares was passed in place of one", async () => {
    const cors = (() => () => handler) as never;
    await expect(async () => wrap(handler, cors)(request)).rejects.toThrow(
      "the handler must return a Response, got function; was a middleware passed without being called?",
    );
  });

  it("has no advice for a middleware without a name", () => {
    expect(() => wrap(handler, (() => undefined) as never)).toThrow(
      "middleware 1 must return a handler, got undefined",
    );
  });
});
