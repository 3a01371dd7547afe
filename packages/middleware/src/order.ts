import type { Middleware } from "@fetchwork/http";
import { MiddlewareError } from "./errors.ts";

/**
 * Under it a middleware has its place: its name, or those of the middlewares that it runs for some
 * requests, and a check of the middlewares inside of it, which `wrap` calls. Registered by its
 * name, so that `wrap` needs nothing of this package.
 */
const placeKey: unique symbol = Symbol.for("fetchwork.place") as never;

interface Place {
  readonly names: readonly string[];
  readonly check: (inside: readonly Middleware[]) => void;
}

interface Rule {
  readonly outer: readonly string[];
  readonly inner: readonly string[];
  readonly because: string;
}

const authentication = ["basicAuth", "bearerAuth", "some"];
const guards = [...authentication, "onlyFrom", "reject"];

/** Orders that are wrong for every application. */
const refused: readonly Rule[] = [
  {
    outer: ["cacheControl"],
    inner: [...authentication, "onlyFrom"],
    because: "it responds with 304 to everyone who has a tag",
  },
  {
    outer: ["idempotency"],
    inner: authentication,
    because: "it would send the stored response of one user to another",
  },
];

/** Orders that are nearly always a mistake. docs/middlewares.md has the reasons at length. */
const discouraged: readonly Rule[] = [
  {
    outer: authentication,
    inner: ["cors"],
    because: "preflights carry no credentials and are refused",
  },
  {
    outer: ["recoverer", ...guards, "sizeLimit"],
    inner: ["appInfo", "cors", "headers", "logger", "secure"],
    because: "the responses that the outer one makes do not pass the inner one",
  },
  {
    outer: ["cacheControl", "etag", "timeout"],
    inner: ["compress"],
    because: "it must see the body before it is compressed",
  },
  {
    outer: ["logger", "rateLimit", "onlyFrom", "idempotency"],
    inner: ["realIp"],
    because: "it then sees the address of the proxy",
  },
  {
    outer: ["idempotency"],
    inner: ["timeout"],
    because: "after a 504 a repetition may do the work twice",
  },
  {
    outer: ["cacheControl"],
    inner: ["reject"],
    because: "it responds with 304 to clients that would be refused",
  },
  {
    outer: ["blackWords", "idempotency"],
    inner: ["sizeLimit"],
    because: "it reads bodies before their size is limited",
  },
  {
    outer: guards,
    inner: ["canonicalPath", "cleanPath", "rewrite"],
    because: "it sees another spelling of the path than the handler",
  },
];

/** Sets the place of a middleware, so that `wrap` can check its order. */
export function place(name: string, middleware: Middleware): Middleware {
  const own: Place = { names: [name], check: (inside) => checkInside(name, inside) };
  return Object.assign(middleware, { [placeKey]: own });
}

/**
 * Adds the names of some middlewares to one that runs them for some requests only. So middlewares
 * outside of it are checked. Middlewares inside of it may be for other requests, so only the order
 * of the given ones is checked.
 */
export function placeOfSome(runs: readonly Middleware[], middleware: Middleware): Middleware {
  const own: Place = {
    names: namesOf(runs),
    check: () => runs.forEach((one, index) => placeOf(one)?.check(runs.slice(index + 1))),
  };
  return Object.assign(middleware, { [placeKey]: own });
}

function checkInside(outer: string, inside: readonly Middleware[]): void {
  for (const inner of namesOf(inside)) {
    const because = find(refused, outer, inner);
    if (because === undefined) {
      warnOnce(outer, inner);
      continue;
    }
    throw new MiddlewareError(
      "ERR_MIDDLEWARE_ORDER",
      `${outer} is outside of ${inner}, expected it inside: ${because}`,
    );
  }
}

function namesOf(middlewares: readonly Middleware[]): readonly string[] {
  return middlewares.flatMap((middleware) => placeOf(middleware)?.names ?? []);
}

function placeOf(middleware: Middleware & { readonly [placeKey]?: Place }): Place | undefined {
  return middleware[placeKey];
}

function find(rules: readonly Rule[], outer: string, inner: string): string | undefined {
  return rules.find((rule) => rule.outer.includes(outer) && rule.inner.includes(inner))?.because;
}

/** Pairs that were reported. A server builds its chain once, tests build it a thousand times. */
const reported = new Set<string>();

function warnOnce(outer: string, inner: string): void {
  const because = find(discouraged, outer, inner);
  const pair = `${outer} ${inner}`;
  if (because === undefined || reported.has(pair)) return;
  if (warn(`${outer} is outside of ${inner}: ${because} (docs/middlewares.md)`)) {
    reported.add(pair);
  }
}

/** Warns by `console.warn`, unless `NODE_ENV` is `production`. Returns whether. */
export function warn(message: string): boolean {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  };
  if (process?.env?.["NODE_ENV"] === "production") return false;
  console.warn(message);
  return true;
}
