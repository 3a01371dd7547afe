import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { wrap, type Handler, type Middleware } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { timeout } from "../../src/index.ts";
import {
  frameworks,
  limit,
  makeLate,
  makeLayers,
  pairs,
  routes,
  webHandler,
  wrapApplication,
} from "./body-layers.ts";

// An exception or a rejection that nobody catches fails the run of the tests: nothing here listens
// for it.

type Framing = "content-length" | "chunked";
type Server = Awaited<ReturnType<typeof serve>>;

const framings: readonly Framing[] = ["content-length", "chunked"];
const bodies: Readonly<Record<string, string>> = {
  small: "a small body",
  forbidden: "an evil body",
  // More than one buffer of any stream in between.
  long: "long ".repeat(limit / 5 - 1),
  "too large": "large".repeat(limit / 2),
};

/** A request that shows that the server still runs. */
const alive: Post = { path: "/parser", framing: "chunked", body: "alive", key: "alive" };

const agent = new Agent({ keepAlive: true });

afterAll(() => agent.destroy());

afterEach(() => vi.useRealTimers());

const latePairs = pairs.flatMap((pair) => framings.map((framing) => [...pair, framing] as const));

function open(handler: Handler): Promise<Server> {
  const quiet = { signals: false, gracePeriod: 0, reportError: () => undefined } as const;
  return serve(handler, { port: 0, hostname: "127.0.0.1", ...quiet });
}

interface Post {
  readonly path: string;
  readonly framing: Framing;
  readonly body: string;
  readonly key: string;
}

async function post(server: Server, { path, framing, body, key }: Post): Promise<unknown> {
  const request = httpRequest({
    port: server.port,
    host: "127.0.0.1",
    path,
    method: "POST",
    agent,
    headers: {
      "content-type": "text/plain",
      "idempotency-key": key,
      ...(framing === "chunked"
        ? { "transfer-encoding": "chunked" }
        : { "content-length": Buffer.byteLength(body) }),
    },
  });
  // A server that refuses a body closes the connection while it is sent.
  request.on("error", () => undefined);
  request.end(body);
  const [response] = (await once(request, "response", { signal: AbortSignal.timeout(5_000) })) as [
    IncomingMessage,
  ];
  const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
  return { status: response.statusCode, text, replayed: response.headers["idempotency-replayed"] };
}

/** The results of every request by its title; a small one is repeated after its response. */
async function postAll(server: Server): Promise<Record<string, unknown>> {
  const cases = routes.flatMap((route) =>
    framings.flatMap((framing) =>
      Object.entries(bodies).map(async ([size, body]) => {
        const title = `/${route}, ${framing}, ${size}`;
        const key = title.replaceAll(/\W+/g, "-");
        const request = { path: `/${route}`, framing, body, key };
        const first = await post(server, request);
        return [title, size === "small" ? [first, await post(server, request)] : first] as const;
      }),
    ),
  );
  return Object.fromEntries(await Promise.all(cases));
}

interface Results {
  readonly results: Record<string, unknown>;
  readonly logged: readonly string[];
}

const expectedResults = new Map<string, Promise<Results>>();

/**
 * The results of a plain handler of ours behind the same middlewares, which are found once for all
 * frameworks.
 */
function resultsOfWebHandler(names: readonly string[]): Promise<Results> {
  const key = names.join();
  const expected = expectedResults.get(key) ?? findResults(names);
  expectedResults.set(key, expected);
  return expected;
}

async function findResults(names: readonly string[]): Promise<Results> {
  const logged: string[] = [];
  await using server = await open(wrap(webHandler, ...makeLayers(names, logged)));
  return { results: await postAll(server), logged: logged.toSorted() };
}

describe.each(Object.keys(frameworks))("A whole application of %s", (framework) => {
  it.each(pairs)("behind %s and %s responds as a web handler does", async (...names) => {
    const logged: string[] = [];
    await using server = await open(await wrapApplication(framework, makeLayers(names, logged)));
    const results = await postAll(server);
    expect({ results, logged: logged.toSorted() }).toEqual(await resultsOfWebHandler(names));
  });

  it.each(pairs)("behind %s and %s survives clients that leave during a body", async (...names) => {
    const arrivals = watchArrivals();
    const layers = [arrivals.layer, ...makeLayers(names, [])];
    await using server = await open(await wrapApplication(framework, layers));
    for (const route of routes) {
      for (const framing of framings) {
        const arrival = arrivals.next();
        const socket = connect(server.port, "127.0.0.1");
        socket.on("error", () => undefined);
        const rest =
          framing === "chunked"
            ? "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
            : "Content-Length: 20\r\n\r\nhalf";
        const head = `POST /${route} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain`;
        socket.write(`${head}\r\nIdempotency-Key: ${route}-${framing}\r\n${rest}`);
        await arrival.arrived.promise;
        socket.resetAndDestroy();
        await arrival.finished.promise;
      }
    }
    expect(await post(server, alive)).toMatchObject({ status: 200 });
  });

  it.each(latePairs)(
    "behind timeout(), %s and %s may respond to %s after the 504",
    async (...row) => {
      const [outer, inner, framing] = row;
      const late = makeLate();
      const layers = [timeout(1_000), ...makeLayers([outer, inner], [])];
      await using server = await open(await wrapApplication(framework, layers, late));
      // Node's own timers are not replaced.
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const response = post(server, { path: "/late", framing, body: "late", key: "late" });
      await late.asked.promise;
      vi.advanceTimersByTime(1_000);
      expect(await response).toMatchObject({ status: 504, text: "" });
      vi.useRealTimers();
      late.release.resolve();
      await late.responded.promise;
      expect(await post(server, alive)).toMatchObject({ status: 200 });
    },
  );

  it("may respond after its client has left", async () => {
    const late = makeLate();
    const arrivals = watchArrivals();
    await using server = await open(await wrapApplication(framework, [arrivals.layer], late));
    const { arrived, finished } = arrivals.next();
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nlate");
    await arrived.promise;
    socket.resetAndDestroy();
    await finished.promise;
    late.release.resolve();
    await late.responded.promise;
    expect(await post(server, alive)).toMatchObject({ status: 200 });
  });
});

interface Arrival {
  readonly arrived: PromiseWithResolvers<void>;
  readonly finished: PromiseWithResolvers<void>;
}

/**
 * A middleware that tells when the request after `next()` has arrived, and when it has finished.
 */
function watchArrivals(): { layer: Middleware; next: () => Arrival } {
  let current: Arrival | undefined;
  return {
    layer: (next) => (request, context) => {
      const arrival = current;
      context.onFinish(() => arrival?.finished.resolve());
      arrival?.arrived.resolve();
      return next(request, context);
    },
    next: () => {
      current = { arrived: Promise.withResolvers(), finished: Promise.withResolvers() };
      return current;
    },
  };
}
