import { describe, expect, it } from "vitest";
import * as middleware from "../src/index.ts";
import * as node from "../src/node/index.ts";

const yes = (): boolean => true;
const hash = {
  bcrypt: `$2b$10$${"a".repeat(53)}`,
  argon2: btoa("h".repeat(32)),
  salt: btoa("s".repeat(16)),
};

describe("factories", () => {
  // A text such as "false", from a file or the environment, must not switch anything on.
  it.each<[string, string, (value: never) => unknown]>([
    ["metrics", "allowAll", (allowAll) => middleware.metrics({ allowAll })],
    ["metrics", "showArguments", (showArguments) => middleware.metrics({ showArguments })],
    ["profiler", "allowAll", (allowAll) => node.profiler({ allowAll })],
    ["profiler", "showArguments", (showArguments) => node.profiler({ showArguments })],
    ["basicAuth", "prompt", (prompt) => middleware.basicAuth(yes, { prompt })],
    ["basicAuth", "challenge", (challenge) => middleware.basicAuth(yes, { challenge })],
    [
      "basicAuthWithUserPasswd",
      "prompt",
      (prompt) => middleware.basicAuthWithUserPasswd("a", "b", { prompt }),
    ],
    [
      "basicAuthWithBcryptHash",
      "challenge",
      (challenge) => middleware.basicAuthWithBcryptHash("a", hash.bcrypt, { challenge }),
    ],
    [
      "basicAuthWithArgon2Hash",
      "challenge",
      (challenge) => middleware.basicAuthWithArgon2Hash("a", hash.argon2, hash.salt, { challenge }),
    ],
    ["cors", "allowCredentials", (allowCredentials) => middleware.cors({ allowCredentials })],
    [
      "cors",
      "unsafeAnyOriginWithCredentials",
      (unsafeAnyOriginWithCredentials) => middleware.cors({ unsafeAnyOriginWithCredentials }),
    ],
    [
      "crossOriginProtection",
      "checkUpgrades",
      (checkUpgrades) => middleware.crossOriginProtection({ checkUpgrades }),
    ],
    [
      "secure",
      "contentTypeNosniff",
      (contentTypeNosniff) => middleware.secure({ contentTypeNosniff }),
    ],
    [
      "secure",
      "hsts.includeSubdomains",
      (includeSubdomains) => middleware.secure({ hsts: { includeSubdomains } }),
    ],
    ["secure", "hsts.preload", (preload) => middleware.secure({ hsts: { preload } })],
    ["idempotency", "required", (required) => middleware.idempotency({ required })],
    ["trace", "trust", (trust) => middleware.trace({ trust })],
    ["trace", "forward", (forward) => middleware.trace({ forward })],
    ["health", "parallel", (parallel) => middleware.health({ parallel })],
    ["logger", "body", (body) => middleware.logger({ body })],
    ["serverTiming", "total", (total) => middleware.serverTiming({ total })],
    ["fileServer", "listing", (listing) => node.fileServer(".", { listing })],
    ["fileServer", "spa", (spa) => node.fileServer(".", { spa })],
    ["fileServer", "precompressed", (precompressed) => node.fileServer(".", { precompressed })],
  ])("%s refuses text, numbers and null for %s", (_factory, option, make) => {
    for (const value of ["false", "", 0, 1, null]) {
      expect(() => make(value as never)).toThrow(
        expect.objectContaining({
          code: "ERR_MIDDLEWARE_OPTION",
          message: expect.stringContaining(`${option} must be `),
        }),
      );
    }
    for (const value of [true, false, undefined]) {
      if (option !== "allowCredentials") expect(() => make(value as never)).not.toThrow();
    }
  });

  it.each<[string, string, (value: never) => unknown]>([
    ["idempotency", "methods", (methods) => middleware.idempotency({ methods })],
    ["retry", "methods", (methods) => middleware.retry({ methods })],
    ["blackWords", "words", (words) => middleware.blackWords(words)],
    ["logger", "maskedKeys", (maskedKeys) => middleware.logger({ maskedKeys })],
    [
      "crossOriginProtection",
      "trustedOrigins",
      (trustedOrigins) => middleware.crossOriginProtection({ trustedOrigins }),
    ],
    [
      "crossOriginProtection",
      "bypassPatterns",
      (bypassPatterns) => middleware.crossOriginProtection({ bypassPatterns }),
    ],
    ["fileServer", "dotFiles", (dotFiles) => node.fileServer(".", { dotFiles })],
  ])("%s refuses what is not a list of texts for %s", (_factory, option, make) => {
    for (const value of ["text", null, 1, {}, [1], ["a", null], [["a"]]]) {
      expect(() => make(value as never)).toThrow(
        expect.objectContaining({
          code: "ERR_MIDDLEWARE_OPTION",
          message: expect.stringContaining(`${option} must be `),
        }),
      );
    }
  });

  it.each<[string, () => unknown]>([
    ["checks that are no list", () => middleware.health({ checks: "db" as never })],
    ["a store of idempotency that is none", () => middleware.idempotency({ store: {} as never })],
    ["a format that every object has", () => middleware.logger({ format: "toString" as never })],
    ["a prefix that is not text", () => middleware.logger({ prefix: 7 as never })],
    ["a 404 page that is not text", () => node.fileServer(".", { notFound: 7 as never })],
    ["a Cache-Control that is not text", () => node.fileServer(".", { cacheControl: 7 as never })],
  ])("refuse %s", (_case, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }));
  });
});
