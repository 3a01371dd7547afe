import { createContext, text, wrap, type Context, type Middleware } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import * as middleware from "../src/index.ts";
import * as node from "../src/node/index.ts";

type Make = (options: never) => unknown;

const date = new Date("2026-01-01T00:00:00Z");
const hash = {
  bcrypt: `$2b$10$${"a".repeat(53)}`,
  argon2: btoa("h".repeat(32)),
  salt: btoa("s".repeat(16)),
};
const redis = { eval: async () => null } as never;
const yes = (): boolean => true;
const context: Context = createContext(new Request("http://localhost/"));
const post = (): Request => new Request("http://localhost/", { method: "POST", body: "1" });

/** How every exported function that has options is called with them. */
const withOptions = {
  addServerTiming: (options) => middleware.addServerTiming(context, "a", options),
  appInfo: (options) => middleware.appInfo(options),
  basicAuth: (options) => middleware.basicAuth(yes, options),
  basicAuthWithArgon2Hash: (options) =>
    middleware.basicAuthWithArgon2Hash("a", hash.argon2, hash.salt, options),
  basicAuthWithArgon2HashAndPrompt: (options) =>
    middleware.basicAuthWithArgon2HashAndPrompt("a", hash.argon2, hash.salt, options),
  basicAuthWithBcryptHash: (options) =>
    middleware.basicAuthWithBcryptHash("a", hash.bcrypt, options),
  basicAuthWithBcryptHashAndPrompt: (options) =>
    middleware.basicAuthWithBcryptHashAndPrompt("a", hash.bcrypt, options),
  basicAuthWithPrompt: (options) => middleware.basicAuthWithPrompt("a", "b", options),
  basicAuthWithUserPasswd: (options) => middleware.basicAuthWithUserPasswd("a", "b", options),
  bearer: (options) => middleware.bearer("t", options),
  Benchmarks: (options) => new middleware.Benchmarks(options),
  bearerAuth: (options) => middleware.bearerAuth(options),
  benchmarks: (options) => middleware.benchmarks(options),
  blackWords: (options) => middleware.blackWords(["a"], options),
  blackWordsFn: (options) => middleware.blackWordsFn(() => [], options),
  compress: (options) => middleware.compress(options),
  cors: (options) => middleware.cors(options),
  CrossOriginProtection: (options) => new middleware.CrossOriginProtection(options),
  crossOriginProtection: (options) => middleware.crossOriginProtection(options),
  decodeJSON: (options) => middleware.decodeJSON(post(), options),
  deprecation: (options) => middleware.deprecation("1", date, options),
  etag: (options) => middleware.etag(options),
  fileServer: (options) => node.fileServer(".", options),
  getRealIP: (options) => middleware.getRealIP(post(), context, options),
  health: (options) => middleware.health(options),
  idempotency: (options) => middleware.idempotency(options),
  logger: (options) => middleware.logger(options),
  memoryIdempotencyStore: (options) => middleware.memoryIdempotencyStore(options),
  memoryRateLimitStore: (options) => middleware.memoryRateLimitStore(options),
  metrics: (options) => middleware.metrics(options),
  metricsAllowAll: (options) => middleware.metricsAllowAll(options),
  noCache: (options) => middleware.noCache(options),
  onlyFrom: (options) => middleware.onlyFrom(options),
  ping: (options) => middleware.ping(options),
  profiler: (options) => node.profiler(options),
  rateLimit: (options) => middleware.rateLimit(options),
  realIp: (options) => middleware.realIp(options),
  recoverer: (options) => middleware.recoverer(options),
  redisRateLimitStore: (options) => middleware.redisRateLimitStore(redis, options),
  retry: (options) => middleware.retry(options),
  secure: (options) => middleware.secure(options),
  sendErrorJSON: (options) => middleware.sendErrorJSON(400, "a", options),
  serverTiming: (options) => middleware.serverTiming(options),
  sizeLimit: (options) => middleware.sizeLimit(1, options),
  sunset: (options) => middleware.sunset(date, options),
  throttle: (options) => middleware.throttle(1, options),
  timeout: (options) => middleware.timeout(1, options),
  toH3: (options) => middleware.toH3((next) => next, options),
  toHono: (options) => middleware.toHono((next) => next, options),
  trace: (options) => middleware.trace(options),
} satisfies Record<string, Make>;

/** Exported functions that have no options. */
const withoutOptions = new Set(
  `AbortHandlerError HandlerTimeoutError InvalidBodyError MiddlewareError RequestError anonymizeIP authorizedUser
  cacheControl cacheControlDynamic canonicalPath canonicalizePath cleanPath encodeJSON except formatSpec generateArgon2Hash generateBcryptHash
  getTraceID gzip headers ipMatcher isAuthorized maybe newErrorLogger parseFromTo reject renderJSON
  renderJSONFromBytes renderJSONWithHTML requestHeaders rewrite secAllHeaders some startServerTiming stripSlashes wrap`.split(
    /\s+/,
  ),
);

const exported = Object.entries({ ...middleware, ...node }).filter(
  ([, value]) => typeof value === "function",
);

/** What a call throws or rejects with. */
async function failureOf(make: Make, options: unknown): Promise<unknown> {
  try {
    await make(options as never);
  } catch (error) {
    return error;
  }
  throw new Error("it was accepted");
}

describe("options", () => {
  it("are known of every exported function to have names or not to exist", () => {
    const unknown = exported.filter(
      ([name]) => !Object.hasOwn(withOptions, name) && !withoutOptions.has(name),
    );
    expect(unknown.map(([name]) => name)).toEqual([]);
  });

  it.each(Object.entries(withOptions))(
    "%s() refuses a name that it does not have",
    async (_, make) => {
      expect(await failureOf(make, { qqqqqqqqqq: 1 })).toMatchObject({
        name: "MiddlewareError",
        code: "ERR_MIDDLEWARE_OPTION",
        message: expect.stringMatching(/ has no option "qqqqqqqqqq"; it has \w/),
      });
    },
  );

  it.each(Object.entries(withOptions))("%s() refuses what is not an object", async (name, make) => {
    for (const wrong of [text, "dev", 1, null, true]) {
      // The three take rules as texts.
      if (typeof wrong === "string" && /^(?:metrics|profiler|onlyFrom)$/.test(name)) continue;
      expect(await failureOf(make, wrong)).toMatchObject({ code: "ERR_MIDDLEWARE_OPTION" });
    }
  });

  it.each<[keyof typeof withOptions, object, string]>([
    ["cors", { allowMethods: ["GET"] }, "allowedMethods"],
    ["secure", { frameOption: "DENY" }, "frameOptions"],
    ["logger", { prefx: "a" }, "prefix"],
    ["fileServer", { dotfiles: "allow" }, "dotFiles"],
  ])("%s() names the option that was meant by %o", async (name, options, meant) => {
    expect(await failureOf(withOptions[name], options)).toMatchObject({
      message: expect.stringContaining(`did you mean "${meant}"?`),
    });
  });

  it.each<[string, () => unknown]>([
    ["hsts of secure", () => middleware.secure({ hsts: { maxage: 1 } as never })],
    ["body of logger", () => middleware.logger({ body: { maxsize: 1 } as never })],
    [
      "a check of health",
      () => middleware.health({ checks: [{ name: "a", check: yes, tiemout: 1 } as never] }),
    ],
  ])("of %s have names that are checked too", (owner, make) => {
    expect(make).toThrow(new RegExp(`^${owner} has no option "\\w+", did you mean "\\w+"\\?$`));
  });

  it.each([
    ["metricsAllowAll", () => middleware.metricsAllowAll({ addresses: ["10.0.0.1"] } as never)],
    ["metrics", () => middleware.metrics({ allowAll: true, addresses: ["10.0.0.1"] })],
    ["profiler", () => node.profiler({ allowAll: true, addresses: ["10.0.0.1"] })],
  ])("%s() refuses addresses together with allowAll", (_name, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }));
  });
});

describe("a factory that wrap() gets without a call", () => {
  // Their first argument may be a function, so they cannot tell a handler from it.
  const noticedAtTheFirstRequest = new Set(["basicAuth", "bearer", "blackWordsFn"]);
  const isFactory = (name: string): boolean =>
    /^(?:appInfo|basicAuth\w*|bearer|benchmarks|blackWords(?:Fn)?|cacheControl\w*|canonicalPath|cleanPath|compress|cors|crossOriginProtection|deprecation|gzip|headers|health|idempotency|logger|maybe|metrics\w*|noCache|onlyFrom|ping|profiler|rateLimit|realIp|recoverer|reject|requestHeaders|retry|rewrite|secure|serverTiming|sizeLimit|stripSlashes|sunset|throttle|timeout|trace)$/.test(
      name,
    );

  it.each(exported.filter(([name]) => isFactory(name)))(
    "is a clear error: %s",
    async (name, factory) => {
      const build = (): ReturnType<typeof wrap> =>
        wrap(() => text("secret"), factory as unknown as Middleware);
      if (!noticedAtTheFirstRequest.has(name)) {
        expect(build).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }));
        return;
      }
      await expect(async () => build()(post())).rejects.toThrow(
        expect.objectContaining({
          code: "ERR_MIDDLEWARE_OPTION",
          message: expect.stringContaining(`write ${name}(`),
        }),
      );
    },
  );

  it("is named with its parentheses: cors", () => {
    expect(() => wrap(() => text("x"), middleware.cors as unknown as Middleware)).toThrow(
      "the options of cors are a function; in wrap(), write cors() and not cors",
    );
  });
});
