import { createContext, empty, text, wrap, type Handler } from "@fetchwork/http";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { cors, type CorsOptions } from "../../src/index.ts";

type Fields = Record<string, string>;
const allowed = "https://allowed.com";
const listed: CorsOptions = { allowedOrigins: [allowed, "https://*.example.com:8443"] };

function request(method: string, headers: Fields): Request {
  return new Request("http://localhost/", { method, headers });
}

/** CORS headers and `Vary` of a response. */
function corsOf({ headers }: Response): Fields {
  return Object.fromEntries(
    [...headers].filter(([name]) => name === "vary" || name.startsWith("access-control-")),
  );
}

async function ask(
  options: CorsOptions | undefined,
  incoming: Request,
): Promise<{ response: Response; called: boolean }> {
  const handler = vi.fn(() => text("x"));
  const response = await wrap(handler, cors(options))(incoming);
  return { response, called: handler.mock.calls.length > 0 };
}

describe("A12: cors refuses, when it is made,", () => {
  it.each<[string, unknown]>([
    ["credentials with the default origins", { allowCredentials: true }],
    ['credentials with ["*"]', { allowCredentials: true, allowedOrigins: ["*"] }],
    [
      "credentials with an origin and *",
      { allowCredentials: true, allowedOrigins: [allowed, "*"] },
    ],
    ["credentials with null", { allowCredentials: true, allowedOrigins: ["null"] }],
    ["credentials with headers of *", { ...listed, allowCredentials: true, allowedHeaders: ["*"] }],
    ["credentials with methods of *", { ...listed, allowCredentials: true, allowedMethods: ["*"] }],
    [
      "credentials with exposed headers of *",
      { ...listed, allowCredentials: true, exposedHeaders: ["*"] },
    ],
    ["an origin with a path", { allowedOrigins: ["https://a.com/"] }],
    ["an origin with a query", { allowedOrigins: ["https://a.com?x"] }],
    ["an origin with a user", { allowedOrigins: ["https://a@b.com"] }],
    ["an origin without a scheme", { allowedOrigins: ["a.com"] }],
    ["an origin with a port that is too large", { allowedOrigins: ["https://a.com:99999"] }],
    ["a wildcard as host", { allowedOrigins: ["https://*"] }],
    ["a wildcard inside a label", { allowedOrigins: ["https://a*.com"] }],
    ["a wildcard as scheme", { allowedOrigins: ["*://a.com"] }],
    ["two wildcards", { allowedOrigins: ["https://*.*.com"] }],
    ["an empty origin", { allowedOrigins: [""] }],
    ["an origin that is not text", { allowedOrigins: [7] }],
    ["origins as text", { allowedOrigins: allowed }],
    ["a pattern of everybody with credentials", { allowedOrigins: [/.*/], allowCredentials: true }],
    ["a pattern of null with credentials", { allowedOrigins: [/null/], allowCredentials: true }],
    ["a maxAge of null", { maxAge: null }],
    ["a method with a space", { allowedMethods: ["GET POST"] }],
    ["a header with a line break", { allowedHeaders: ["a\r\nb"] }],
    ["exposed headers as text", { exposedHeaders: "a" }],
    ["a negative maxAge", { maxAge: -1 }],
    ["an endless maxAge", { maxAge: Infinity }],
    ["credentials of 1", { allowCredentials: 1 }],
  ])("%s", (_case, options) => {
    expect(() => cors(options as CorsOptions)).toThrow(
      expect.objectContaining({ name: "MiddlewareError", code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("and says how to allow every origin with credentials", () => {
    expect(() => cors({ allowCredentials: true })).toThrow(
      /unsafeAnyOriginWithCredentials.*, got "\*"/,
    );
  });
});

const credentialed: CorsOptions = { ...listed, allowCredentials: true };
const unsafe: CorsOptions = { allowCredentials: true, unsafeAnyOriginWithCredentials: true };
const preflight = { "access-control-request-method": "PUT" };
const preflightVary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
const methods = "GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD";
const headers = "Accept, Content-Type, Authorization, X-Requested-With";

interface Row {
  readonly name: string;
  readonly options?: CorsOptions;
  readonly method?: string;
  readonly sent: Fields;
  readonly status?: number;
  readonly got: Fields;
}

const rows: Row[] = [
  // Decision 2A.8: `Vary` here too; Go sends none, and caches mix up responses.
  { name: "no Origin", sent: {}, got: { vary: "Origin" } },
  { name: "no Origin, preflight", method: "OPTIONS", sent: preflight, got: { vary: "Origin" } },
  {
    name: "an origin that is not allowed",
    options: listed,
    sent: { origin: "https://evil.com" },
    got: { vary: "Origin" },
  },
  {
    name: "a preflight of an origin that is not allowed",
    options: listed,
    method: "OPTIONS",
    sent: { origin: "https://evil.com", ...preflight },
    got: { vary: preflightVary },
  },
  {
    name: "everybody",
    sent: { origin: allowed },
    got: { "access-control-allow-origin": "*", vary: "Origin" },
  },
  {
    name: "everybody, also nobody",
    sent: { origin: "null" },
    got: { "access-control-allow-origin": "*", vary: "Origin" },
  },
  // TRAP: Go takes `*` next to another origin for a name.
  {
    name: "everybody next to another one",
    options: { allowedOrigins: [allowed, "*"] },
    sent: { origin: "https://evil.com" },
    got: { "access-control-allow-origin": "*", vary: "Origin" },
  },
  {
    name: "a listed origin",
    options: listed,
    sent: { origin: allowed },
    got: { "access-control-allow-origin": allowed, vary: "Origin" },
  },
  {
    name: "a listed origin in capitals, echoed as it came",
    options: listed,
    sent: { origin: "HTTPS://ALLOWED.COM" },
    got: { "access-control-allow-origin": "HTTPS://ALLOWED.COM", vary: "Origin" },
  },
  {
    name: "credentials",
    options: credentialed,
    sent: { origin: allowed },
    got: {
      "access-control-allow-origin": allowed,
      "access-control-allow-credentials": "true",
      vary: "Origin",
    },
  },
  {
    name: "a preflight",
    options: { ...credentialed, maxAge: 600, exposedHeaders: ["X-Total"] },
    method: "OPTIONS",
    sent: { origin: allowed, ...preflight, "access-control-request-headers": "x-not-listed" },
    status: 204,
    got: {
      "access-control-allow-origin": allowed,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers,
      "access-control-max-age": "600",
      vary: preflightVary,
    },
  },
  {
    name: "a preflight that is not to be kept",
    options: { ...listed, maxAge: 0 },
    method: "OPTIONS",
    sent: { origin: allowed, ...preflight },
    status: 204,
    got: {
      "access-control-allow-origin": allowed,
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers,
      "access-control-max-age": "0",
      vary: preflightVary,
    },
  },
  {
    name: "a preflight of everybody, for a method that is not checked",
    method: "OPTIONS",
    sent: { origin: allowed, "access-control-request-method": "BREW" },
    status: 204,
    got: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods,
      "access-control-allow-headers": headers,
      vary: preflightVary,
    },
  },
  {
    name: "a preflight with lists of one's own",
    options: { allowedMethods: ["PUT", "BREW"], allowedHeaders: ["X-A"] },
    method: "OPTIONS",
    sent: { origin: allowed, ...preflight },
    status: 204,
    got: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "PUT, BREW",
      "access-control-allow-headers": "X-A",
      vary: preflightVary,
    },
  },
  {
    name: "OPTIONS that is not a preflight",
    options: listed,
    method: "OPTIONS",
    sent: { origin: allowed },
    got: { "access-control-allow-origin": allowed, vary: "Origin" },
  },
  {
    name: "exposed headers",
    options: { exposedHeaders: ["X-Total-Count", "Link"] },
    sent: { origin: allowed },
    got: {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "X-Total-Count, Link",
      vary: "Origin",
    },
  },
  {
    name: "everybody with credentials, when that is asked for",
    options: unsafe,
    sent: { origin: "https://evil.com" },
    got: {
      "access-control-allow-origin": "https://evil.com",
      "access-control-allow-credentials": "true",
      vary: "Origin",
    },
  },
  {
    name: "the unsafe option without credentials changes nothing",
    options: { unsafeAnyOriginWithCredentials: true },
    sent: { origin: "https://evil.com" },
    got: { "access-control-allow-origin": "*", vary: "Origin" },
  },
  {
    name: "null, unless it is listed",
    options: listed,
    sent: { origin: "null" },
    got: { vary: "Origin" },
  },
  {
    name: "null that is listed",
    options: { allowedOrigins: ["null"] },
    sent: { origin: "null" },
    got: { "access-control-allow-origin": "null", vary: "Origin" },
  },
];

describe("A12: cors answers", () => {
  it.each(rows)("$name", async ({ options, method = "GET", sent, status = 200, got }) => {
    const { response, called } = await ask(options, request(method, sent));
    expect(response.status).toBe(status);
    expect(called).toBe(status === 200);
    expect(corsOf(response)).toEqual(got);
  });

  it("a preflight without a body", async () => {
    const { response } = await ask({}, request("OPTIONS", { origin: allowed, ...preflight }));
    expect([await response.text(), response.headers.has("content-length")]).toEqual(["", false]);
  });
});

describe("cors", () => {
  it.each([
    ["https://allowed.com", true],
    ["https://allowed.com:443", false],
    ["https://allowed.com.evil.com", false],
    ["https://evil.com/https://allowed.com", false],
    ["http://allowed.com", false],
    ["https://notallowed.com", false],
    ["https://a.example.com:8443", true],
    ["https://a.b.example.com:8443", true],
    ["https://example.com:8443", false],
    ["https://.example.com:8443", false],
    ["https://a..example.com:8443", false],
    ["https://a.example.com", false],
    ["https://evil.com#.example.com:8443", false],
    ["https://evil.com/.example.com:8443", false],
    ["https://evil.com@a.example.com:8443", false],
    ["https://evil.com\\.example.com:8443", false],
    ["https://xexample.com:8443", false],
  ])("%s is allowed: %s", async (origin, isAllowed) => {
    const { response } = await ask(listed, request("GET", { origin }));
    expect(response.headers.get("access-control-allow-origin")).toBe(isAllowed ? origin : null);
  });

  it("takes origins in the spelling of people", async () => {
    const options = {
      allowedOrigins: ["HTTPS://Bücher.example:443", "capacitor://localhost", "http://[::1]:80"],
    };
    for (const origin of [
      "https://xn--bcher-kva.example",
      "capacitor://localhost",
      "http://[::1]",
    ]) {
      const { response } = await ask(options, request("GET", { origin }));
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    }
  });

  it("asks a function, which may take its time, and fails when it fails", async () => {
    const incoming = request("GET", { origin: allowed });
    const context = createContext(incoming);
    const check = vi.fn(async (origin: string) => origin === allowed);
    const handler = wrap(() => empty(), cors({ allowedOrigins: check, allowCredentials: true }));
    expect(corsOf(await handler(incoming, context))["access-control-allow-origin"]).toBe(allowed);
    expect(check).toHaveBeenCalledWith(allowed, incoming, context);
    const refused = await handler(request("GET", { origin: "https://evil.com" }));
    expect(corsOf(refused)).toEqual({ vary: "Origin" });
    const failing = wrap(
      () => empty(),
      cors({
        allowedOrigins: () => {
          throw new Error("no list");
        },
      }),
    );
    expect(() => failing(incoming)).toThrow("no list");
  });

  it.each<[unknown]>([[1], ["no"], [{}], [Promise.resolve("no")]])(
    "allows nobody when a function answers %j",
    async (answer) => {
      const allowedOrigins = (() => answer) as CorsOptions["allowedOrigins"];
      const handler = wrap(() => empty(), cors({ allowedOrigins, allowCredentials: true }));
      const response = await handler(request("GET", { origin: "https://evil.com" }));
      expect(corsOf(response)).toEqual({ vary: "Origin" });
    },
  );

  it("leaves alone what the handler says, and merges Vary", async () => {
    const handler: Handler = async () =>
      text("x", {
        headers: { "access-control-allow-origin": "https://other.com", vary: "Accept" },
      });
    const response = await wrap(handler, cors(credentialed))(request("GET", { origin: allowed }));
    expect(corsOf(response)).toEqual({
      "access-control-allow-origin": "https://other.com",
      vary: "Accept, Origin",
    });
  });

  it("sets the headers of shared responses for each of two origins", async () => {
    const shared = text("x");
    const handler = wrap(
      () => shared,
      cors({ allowedOrigins: ["https://a.com", "https://b.com"] }),
    );
    const responses = ["https://a.com", "https://b.com", "https://c.com"].map(async (origin) =>
      handler(request("GET", { origin })),
    );
    const origins = (await Promise.all(responses)).map(corsOf);
    expect(origins.map((fields) => fields["access-control-allow-origin"])).toEqual([
      "https://a.com",
      "https://b.com",
      undefined,
    ]);
  });

  it("never allows an origin whose host is not listed, whatever it looks like", async () => {
    const handler = wrap(() => empty(), cors(listed));
    const part = fc.constantFrom(
      "https://",
      "http://",
      "allowed.com",
      "a.example.com",
      ".example.com",
      ":8443",
      "@",
      "/",
      "#",
      "evil.com",
      ".",
      "*",
      "[",
      "%2e",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const origin = parts.join("");
        const response = await handler(request("GET", { origin }));
        if (!response.headers.has("access-control-allow-origin")) return;
        const { protocol, host, origin: parsed } = new URL(origin);
        expect(parsed).toBe(origin);
        expect(protocol).toBe("https:");
        expect(host === "allowed.com" || /^[a-z.]+\.example\.com:8443$/.test(host)).toBe(true);
      }),
    );
  });
});

it.each<[RegExp, string, boolean]>([
  [/https:\/\/app-\d+\.example\.com/, "https://app-1.example.com", true],
  [/https:\/\/app-\d+\.example\.com/, "https://APP-1.example.com", true],
  [/https:\/\/app-\d+\.example\.com/, "https://app-1.example.com.evil.net", false],
  [/https:\/\/app-\d+\.example\.com/, "https://evil.net/https://app-1.example.com", false],
  [/example\.com$/, "https://example.com", false],
  [/^https:\/\/a\.example$|^https:\/\/b\.example$/gm, "https://b.example", true],
  [/https:\/\/a\.example|https:\/\/b\.example/, "https://b.example.evil.net", false],
  [/https:\/\/a+\.example/y, `https://${"a".repeat(300)}.example`, false],
])("cors() with the pattern %s allows %s: %s, each time", async (pattern, origin, expected) => {
  const handler = wrap(
    () => text("x"),
    cors({ allowedOrigins: [pattern], allowCredentials: true }),
  );
  for (let time = 0; time < 3; time += 1) {
    const response = await handler(request("GET", { origin }));
    expect(response.headers.get("access-control-allow-origin")).toBe(expected ? origin : null);
    expect(response.headers.get("vary")).toBe("Origin");
  }
});

describe("cors() with what depends on the preflight", () => {
  it("allows the headers that a preflight asks for, when told so", async () => {
    const preflight = (requested: string): Request =>
      new Request("http://localhost/", {
        method: "OPTIONS",
        headers: {
          origin: "https://a.example",
          "access-control-request-method": "PUT",
          "access-control-request-headers": requested,
        },
      });
    const handler = wrap(
      () => new Response("ok"),
      cors({
        allowedOrigins: ["https://a.example"],
        allowedHeaders: "requested",
        allowCredentials: true,
      }),
    );
    const { headers } = await handler(preflight("x-a, x-b"));
    expect(headers.get("access-control-allow-headers")).toBe("x-a, x-b");
    expect(headers.get("vary")).toContain("Access-Control-Request-Headers");
    const odd = await handler(preflight("x a"));
    expect(odd.headers.get("access-control-allow-headers")).toBeNull();
  });

  it("asks a function for the methods of an origin, which may be asynchronous", async () => {
    const request = (origin: string): Request =>
      new Request("http://localhost/", {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "PUT" },
      });
    const handler = wrap(
      () => new Response("ok"),
      cors({
        allowedMethods: (origin) =>
          origin === "https://a.example" ? ["GET", "PUT"] : Promise.resolve(["GET"]),
      }),
    );
    const methods = async (origin: string): Promise<string | null> =>
      (await handler(request(origin))).headers.get("access-control-allow-methods");
    expect(await methods("https://a.example")).toBe("GET, PUT");
    expect(await methods("https://b.example")).toBe("GET");
  });
});
