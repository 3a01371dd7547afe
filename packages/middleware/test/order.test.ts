import { createContext, text, wrap, type Handler, type Middleware } from "@fetchwork/http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  basicAuthWithPrompt,
  bearerAuth,
  cacheControl,
  compress,
  cors,
  except,
  idempotency,
  logger,
  maybe,
  MiddlewareError,
  onlyFrom,
  realIp,
  recoverer,
  secure,
  sizeLimit,
  some,
} from "../src/index.ts";

const authorization = `Basic ${btoa("anna:secret")}`;
const origin = "https://app.example.com";
const log: string[] = [];

/** Ten layers in the order of docs/middlewares.md. */
const layers: readonly (readonly [string, () => Middleware])[] = [
  ["realIp", () => realIp({ trustedProxies: ["10.0.0.1"] })],
  [
    "logger",
    () => logger({ format: ({ ip, status }) => `${ip} ${status}`, sink: (line) => log.push(line) }),
  ],
  ["cors", () => cors({ allowedOrigins: [origin] })],
  ["secure", () => secure()],
  ["recoverer", () => recoverer({ log: () => undefined })],
  ["onlyFrom", () => onlyFrom("192.0.2.0/24", "10.0.0.0/8")],
  ["basicAuth", () => basicAuthWithPrompt("anna", "secret")],
  ["sizeLimit", () => sizeLimit(100)],
  ["compress", () => compress({ encodings: ["gzip"] })],
  ["cacheControl", () => cacheControl(60, "1")],
];

const handler: Handler = async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/boom") throw new Error("boom");
  if (request.method === "POST") return text(`got ${(await request.text()).length}`);
  return text("hello ".repeat(500));
};

const vectors: readonly (readonly [string, RequestInit])[] = [
  ["/", { headers: { authorization, origin, "accept-encoding": "gzip" } }],
  ["/", { headers: { origin } }],
  ["/", { method: "OPTIONS", headers: { origin, "access-control-request-method": "PUT" } }],
  ["/boom", { headers: { authorization, origin } }],
  ["/", { method: "POST", body: "x".repeat(50), headers: { authorization } }],
  ["/", { method: "POST", body: "x".repeat(200), headers: { authorization, origin } }],
  ["/", { headers: { "if-none-match": '"5c3f"' } }],
];

/** Everything that a client sees, and the line in the log. */
async function outcomes(chain: Handler): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const [path, init] of vectors) {
    const request = new Request(`http://localhost${path}`, init);
    request.headers.set("x-forwarded-for", "192.0.2.7");
    log.length = 0;
    try {
      const context = createContext(request, { peer: "10.0.0.1" });
      const response = await chain(request, context);
      const headers = [...response.headers].flatMap(([name, value]) => {
        // No page is made of the response to a preflight, so it may have other headers or not.
        if (init.method === "OPTIONS" && !name.startsWith("access-control-")) return [];
        if (name !== "vary") return `${name}: ${value}`;
        const names = value.split(", ").toSorted();
        // A refusal may vary or not; it is not compressed either way.
        return names.filter((one) => response.ok || one !== "Accept-Encoding").join();
      });
      const body = Buffer.from(await response.arrayBuffer()).toString("base64");
      seen.push([response.status, ...headers.toSorted(), body].join("\n"));
    } catch (error) {
      seen.push(`throws ${String(error)}`);
    }
    seen.push(log.join());
  }
  return seen;
}

/** Orders that a seed draws. */
function shuffles(count: number): (typeof layers)[number][][] {
  const orders: (typeof layers)[number][][] = [];
  let state = 42;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
  for (let round = 0; round < count; round += 1) {
    // Few swaps, so that not every order has a pair that is refused.
    const order = layers.slice();
    for (let swap = 0; swap <= round % 12; swap += 1) {
      const at = random(order.length - 1);
      order.splice(at, 2, ...order.slice(at, at + 2).toReversed());
    }
    orders.push(order);
  }
  return orders;
}

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe("wrap()", () => {
  it("refuses, reports or leaves without effect each order of ten layers", async () => {
    // The first test of this file, because a pair is reported once.
    const pairs = new Set<string>();
    vi.spyOn(console, "warn").mockImplementation((message: string) => {
      const match = /^(\w+) is outside of (\w+):/.exec(message);
      if (match !== null) pairs.add(`${match[1]} ${match[2]}`);
    });
    const build = (order: typeof layers): Handler =>
      wrap(handler, ...order.map(([, make]) => make()));
    const expected = await outcomes(build(layers));
    const counts = { equal: 0, refused: 0, reported: 0 };
    for (const order of shuffles(300)) {
      const names = order.map(([name]) => name);
      let chain: Handler;
      try {
        chain = build(order);
      } catch (error) {
        expect(error).toMatchObject({ code: "ERR_MIDDLEWARE_ORDER" });
        counts.refused += 1;
        continue;
      }
      const isReported = names.some((outer, index) =>
        names.slice(index + 1).some((inner) => pairs.has(`${outer} ${inner}`)),
      );
      if (isReported) {
        counts.reported += 1;
        continue;
      }
      expect([names.join(), ...(await outcomes(chain))]).toEqual([names.join(), ...expected]);
      counts.equal += 1;
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(10);
  });

  const guards = {
    basicAuth: basicAuthWithPrompt("anna", "secret"),
    bearerAuth: bearerAuth({ verify: () => ({}) }),
    some: some(basicAuthWithPrompt("a", "b"), bearerAuth({ verify: () => ({}) })),
  };
  const conditional = {
    "maybe()": (guard: Middleware) => maybe(guard, () => true),
    "except()": (guard: Middleware) => except("/public", logger(), guard),
    "except() in maybe()": (guard: Middleware) => maybe(except("/public", guard), () => true),
  };
  it.each(Object.entries(conditional))(
    "refuses cacheControl() and idempotency() outside of a guard in %s",
    (_name, make) => {
      for (const [name, guard] of Object.entries(guards)) {
        for (const [outer, middleware] of [
          ["cacheControl", cacheControl(60, "1")],
          ["idempotency", idempotency()],
        ] as const) {
          expect(() => wrap(handler, middleware, secure(), make(guard))).toThrow(
            `${outer} is outside of ${name}, expected it inside: it`,
          );
          expect(() => wrap(handler, make(guard), middleware)).not.toThrow();
        }
      }
    },
  );

  it("refuses cacheControl() outside of onlyFrom(), with a condition too", () => {
    const guard = onlyFrom("10.0.0.1");
    for (const inner of [guard, maybe(guard, () => true), except("/public", guard)]) {
      expect(() => wrap(handler, cacheControl(60, "1"), inner)).toThrow(
        "cacheControl is outside of onlyFrom, expected it inside: it",
      );
      expect(() => wrap(handler, inner, cacheControl(60, "1"))).not.toThrow();
    }
  });

  it("checks the order inside of except(), and not what a condition may keep apart", () => {
    const [cache, guard] = [cacheControl(60, "1"), basicAuthWithPrompt("anna", "secret")];
    expect(() => wrap(handler, except("/public", cache, guard))).toThrow(
      "cacheControl is outside of basicAuth",
    );
    const isPublic = ({ url }: Request): boolean => url.includes("/public/");
    const apart = [maybe(cache, isPublic), except("/public/*", guard)];
    expect(() => wrap(handler, ...apart)).not.toThrow();
  });

  it.each(Object.entries(guards))(
    "refuses cacheControl() and idempotency() outside of %s()",
    (name, guard) => {
      for (const [outer, middleware] of [
        ["cacheControl", cacheControl(60, "1")],
        ["idempotency", idempotency()],
      ] as const) {
        const build = (): unknown => wrap(handler, middleware, secure(), guard);
        expect(build).toThrow(MiddlewareError);
        expect(build).toThrow(`${outer} is outside of ${name}, expected it inside: it`);
        expect(build).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_ORDER" }));
        expect(() => wrap(handler, guard, secure(), middleware)).not.toThrow();
      }
    },
  );

  it("warns once of an unusual order in development, and never in production", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.resetModules();
    const fresh = await import("../src/index.ts");
    vi.stubEnv("NODE_ENV", "production");
    fresh.wrap(handler, fresh.recoverer(), fresh.cors());
    expect(warn).not.toHaveBeenCalled();
    vi.stubEnv("NODE_ENV", "development");
    for (let count = 0; count < 3; count += 1) {
      fresh.wrap(handler, fresh.recoverer(), fresh.cors());
    }
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining("recoverer is outside of cors: the responses"),
    );
    fresh.wrap(handler, fresh.timeout(1000), fresh.idempotency());
    expect(warn).toHaveBeenCalledTimes(1);
    fresh.wrap(handler, fresh.idempotency(), fresh.timeout(1000));
    expect(warn).toHaveBeenLastCalledWith(
      expect.stringContaining("idempotency is outside of timeout: after a 504"),
    );
  });
});
