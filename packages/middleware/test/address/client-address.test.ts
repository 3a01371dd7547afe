import { createContext, finishContext, text, wrap, type Handler } from "@fetchwork/http";
import { expect, it, vi } from "vitest";
import {
  getRealIP,
  logger,
  metrics,
  newErrorLogger,
  onlyFrom,
  rateLimit,
  realIp,
  recoverer,
  type RateLimitStore,
} from "../../src/index.ts";

const headers = { "x-forwarded-for": "8.8.8.8" };

/** What every part of the package takes for the address of a client behind 127.0.0.1. */
async function addressesSeen(...outer: Parameters<typeof wrap>[1][]): Promise<object> {
  const request = new Request("http://localhost/metrics", { headers });
  const seen: Record<string, string | undefined> = {};
  const run = async (handler: Handler, ...layers: typeof outer): Promise<Response> => {
    const context = createContext(request, { peer: "127.0.0.1" });
    const response = await wrap(handler, ...outer, ...layers)(request, context);
    finishContext(context, { status: response.status, bytes: 0 });
    return response;
  };
  const fails: Handler = () => {
    throw new Error("oh");
  };
  const handler: Handler = (received, context) => {
    seen["getRealIP"] = getRealIP(received, context);
    newErrorLogger((line) => (seen["newErrorLogger"] = line.split(" - ")[3])).log(
      { status: 500, request: received, context },
      "oh",
    );
    return text("x");
  };
  const store: RateLimitStore = {
    take: (key) => {
      seen["rateLimit"] = key.split(":")[1];
      return { isAllowed: true, remaining: 1, resetAfter: 1 };
    },
  };
  await run(
    handler,
    logger({ backend: ({ ip }) => void (seen["logger"] = ip), ip: true }),
    rateLimit({ limit: 1, store }),
  );
  await run(
    fails,
    recoverer({ log: (record) => (seen["recoverer"] ??= / from (\S+),/.exec(record)?.[1]) }),
  );
  for (const [name, guard] of Object.entries({
    onlyFrom: onlyFrom("10.0.0.0/8"),
    metrics: metrics("10.0.0.0/8"),
  })) {
    const { error } = (await (await run(handler, guard)).json()) as { error: string };
    seen[name] = /^ip "?([\d.]+)"? rejected$/.exec(error)?.[1];
  }
  return seen;
}

const everything = [
  "getRealIP",
  "logger",
  "metrics",
  "newErrorLogger",
  "onlyFrom",
  "rateLimit",
  "recoverer",
];

it.each([
  ["the specification's order without realIp()", [], "8.8.8.8"],
  ["what realIp() around them found", [realIp()], "8.8.8.8"],
  ["what realIp() found of trusted proxies", [realIp({ trustedProxies: [] })], "127.0.0.1"],
])(
  "every middleware that uses the client's address gets it from %s",
  async (_case, outer, address) => {
    expect(await addressesSeen(...outer)).toEqual(
      Object.fromEntries(everything.map((name) => [name, address])),
    );
  },
);

it("context.ip is the connection's address until realIp() changes it", async () => {
  const seen = vi.fn();
  const handler: Handler = (_request, context) => {
    seen(context.ip);
    return text("x");
  };
  const request = new Request("http://localhost/", { headers });
  for (const layers of [[onlyFrom("8.8.8.8")], [onlyFrom("8.8.8.8"), realIp()]]) {
    await wrap(handler, ...layers)(request, createContext(request, { peer: "127.0.0.1" }));
  }
  expect(seen.mock.calls).toEqual([["127.0.0.1"], ["8.8.8.8"]]);
});
