import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { processorTime } from "../../../kit/test/processor-time.ts";
import { findField, InvalidResponseError, OAuth2Response } from "../../src/index.ts";
import type { OAuth2ResponseInit } from "../../src/message/response.ts";
import {
  configure,
  registerParser,
  resetSettings,
  settings,
  snakeCase,
  snakyHashClass,
} from "../../src/compat/index.ts";

afterEach(() => resetSettings());

function responseOf(
  body: string,
  type = "application/json",
  init: Partial<OAuth2ResponseInit> = {},
): OAuth2Response {
  const headers = new Headers(type === "" ? {} : { "content-type": type });
  return new OAuth2Response({ status: 200, headers, body, url: "https://e.org/", ...init });
}

describe("hash", () => {
  const body = '{"accessToken":"A","userInfo":{"firstName":"Ann","Tags":[{"tagName":1}]}}';

  it("is read by property; findField() reads it by a string in any spelling, and by a symbol", () => {
    const hash = responseOf(body).hash ?? {};
    expect(hash["access_token"]).toBe("A");
    for (const key of ["access_token", "accessToken", "Access-Token", Symbol.for("access_token")]) {
      expect(findField(hash, key)).toBe("A");
    }
    expect(findField(hash, "absent")).toBeUndefined();
    expect(findField(hash, Symbol("access_token"))).toBeUndefined();
  });

  it("is a plain object in all depths: it is cloned, and written as text", () => {
    const hash = responseOf(body).hash ?? {};
    expect(structuredClone(hash)).toStrictEqual(JSON.parse(JSON.stringify(hash)));
    expect(String(hash["user_info"])).toBe("[object Object]");
    const form = responseOf("aB=1&aB=2", "application/x-www-form-urlencoded").hash ?? {};
    expect(structuredClone(form)).toStrictEqual({ a_b: ["1", "2"] });
    const loaded = snakyHashClass().load(body);
    expect(structuredClone(loaded)).toStrictEqual(hash);
  });

  it("has snake_case keys in all depths, for keys, spread and JSON", () => {
    const { parsed } = responseOf(body);
    expect(Object.keys(Object(parsed))).toEqual(["access_token", "user_info"]);
    expect(JSON.parse(JSON.stringify(parsed))).toEqual({
      access_token: "A",
      user_info: { first_name: "Ann", tags: [{ tag_name: 1 }] },
    });
  });

  it("has nothing that was not sent", () => {
    for (const sent of ["{}", '{"__proto__":{"admin":true},"a":1}']) {
      const hash = responseOf(sent).hash ?? {};
      expect(Object.getPrototypeOf(hash)).toBe(Object.prototype);
      for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", "admin"]) {
        expect(findField(hash, name)).toBeUndefined();
      }
    }
  });

  it("keeps the keys of the provider with snaky: false, in a plain object", () => {
    const { parsed } = responseOf(body, "application/json", { snaky: false });
    expect(parsed).toEqual(JSON.parse(body));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    const form = responseOf("aB=1", "application/x-www-form-urlencoded", { snaky: false });
    expect(form.parsed).toEqual({ aB: "1" });
  });

  it("is made once", () => {
    const response = responseOf(body);
    expect(response.parsed).toBe(response.parsed);
  });
});

describe("parsed", () => {
  const rows = [
    ['[{"aB":1}]', "application/json", [{ aB: 1 }]],
    ["5", "application/json", 5],
    ["a=1&a=2&b=", "application/x-www-form-urlencoded", { a: ["1", "2"], b: "" }],
    ["a=%zz&=x", "application/x-www-form-urlencoded;charset=UTF-8", { a: "%zz", "": "x" }],
    ["", "application/json", ""],
    [" \n", "application/json", " \n"],
    ["<a/>", "application/xml", "<a/>"],
    ['{"a":1}', "", '{"a":1}'],
    ['{"a":1}', "application/problem+json", { a: 1 }],
    ['{"a":1,"a":2}', "text/javascript", { a: 2 }],
  ] as const;
  it.each(rows)("reads %j of type %j as %j", (body, type, value) => {
    expect(responseOf(body, type).parsed).toEqual(value);
  });

  it.each(["not json", '{"access_token":"canary","x":', "}"])(
    "is a separate error for %j as JSON, and the text where the status is an error",
    (body) => {
      const broken = responseOf(body);
      const thrown: unknown = (() => {
        try {
          return broken.parsed;
        } catch (error) {
          return error;
        }
      })();
      expect(thrown).toMatchObject({ name: "InvalidResponseError", code: "ERR_OAUTH_RESPONSE" });
      expect(thrown).toHaveProperty("response", broken);
      expect(inspect(thrown)).not.toContain("canary");
      const failed = responseOf(body, "application/json", { status: 502 });
      expect(failed.parsed).toBe(failed.body);
      expect(failed.error).toMatchObject({ status: 502, message: "HTTP 502" });
    },
  );

  it("takes a parser by name, as a function, or one that is registered", () => {
    expect(responseOf("a=1", "text/html", { parse: "query" }).parsed).toEqual({ a: "1" });
    expect(responseOf('{"a":1}', "application/json", { parse: "text" }).parsed).toBe('{"a":1}');
    const own = responseOf("x", "text/html", {
      parse: (body, { status }) => ({ bodyOf: body, status }),
    });
    expect(own.parsed).toEqual({ body_of: "x", status: 200 });
    registerParser("csv", ["text/CSV"], (body) => body.split(","));
    expect(responseOf("a,b", "text/csv").parsed).toEqual(["a", "b"]);
    expect(responseOf("a,b", "text/html", { parse: "csv" }).parsed).toEqual(["a", "b"]);
    expect(responseOf('{"a":1}', "application/json", { parse: "nobody" }).parsed).toEqual({ a: 1 });
  });

  it("throws nothing but an InvalidResponseError, whatever is sent", () => {
    const types = fc.constantFrom(
      "application/json",
      "application/x-www-form-urlencoded",
      "text/x",
      "",
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), types, (body, type) => {
        try {
          const { parsed } = responseOf(body, type);
          JSON.stringify(parsed);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidResponseError);
        }
      }),
    );
  });

  it("returns bytes as they came, and text without a byte order mark", () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]);
    const response = responseOf("", "text/plain", { body: bytes });
    expect(response.bytes).toBe(bytes);
    expect(response.body).toBe("a\uFFFD");
  });
});

describe("snakeCase", () => {
  it("is the same when it is done twice", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "B", "1", "_", "-", " ", ":", "É") }),
        (key) => {
          expect(snakeCase(snakeCase(key))).toBe(snakeCase(key));
        },
      ),
    );
  });

  it("takes linear time: else this would take minutes", () => {
    const begun = processorTime();
    for (const key of ["A", "aB", "_", "-", "::", " ", "A_"]) snakeCase(key.repeat(500_000));
    expect(processorTime(begun)).toBeLessThan(4_000);
  });
});

describe("hash class", () => {
  const dated = snakyHashClass({
    dumpValue: (value) => (value instanceof Date ? { $date: value.getTime() } : value),
    loadValue: (value) => (typeof value === "string" ? value.toUpperCase() : value),
    dumpHash: (hash) => ({ ...hash, version: 1 }),
    loadHash: (hash) =>
      Object.fromEntries(Object.entries(hash).filter(([key]) => key !== "version")),
  });

  it("runs its hooks for values and hashes, when it writes and when it reads", () => {
    const text = dated.dump({
      at: new Date(5),
      list: [new Date(6), "a"],
      inner: { none: null, empty: "" },
    });
    expect(JSON.parse(text)).toEqual({
      at: { $date: 5 },
      list: [{ $date: 6 }, "a"],
      inner: { none: null, empty: "", version: 1 },
      version: 1,
    });
    const hash = dated.load('{"someKey":"a","inner":{"version":3,"list":["b",null]},"version":9}');
    expect(hash).toEqual({ some_key: "A", inner: { list: ["B", null] } });
  });

  it("refuses to load what is not a hash, or nested too deeply", () => {
    expect(() => dated.load("[1]")).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_RESPONSE" }),
    );
    const deep = `${'{"a":'.repeat(200)}1${"}".repeat(200)}`;
    expect(() => dated.load(deep)).toThrow(expect.objectContaining({ code: "ERR_OAUTH_RESPONSE" }));
    expect(responseOf(deep).parsed).toBe(deep);
  });

  it("is used for one call, or for all", () => {
    const counting = {
      ...snakyHashClass(),
      from: (value: object) => ({ keys: Object.keys(value).length }),
    };
    expect(
      responseOf('{"a":1,"b":2}', "application/json", { snakyHashClass: counting }).parsed,
    ).toEqual({
      keys: 2,
    });
    configure({ snakyHashClass: counting });
    expect(responseOf('{"a":1}').parsed).toEqual({ keys: 1 });
  });
});

describe("settings", () => {
  const wrong = [
    { silenceExtraTokensWarning: 1 },
    { silenceNoTokensWarning: "no" },
    { filteredLabel: null },
    { filteredDebugKeys: "token" },
    { filteredDebugKeys: [1] },
    { snakyHashClass: {} },
    { unknown: true },
  ];
  it.each(wrong)("refuses %j and changes nothing", (changes) => {
    const before = settings();
    expect(() => Reflect.apply(configure, undefined, [{ filteredLabel: "x", ...changes }])).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
    );
    expect(settings()).toBe(before);
  });

  it("has the defaults of the specification", () => {
    expect(settings()).toMatchObject({
      silenceExtraTokensWarning: true,
      silenceNoTokensWarning: true,
      filteredLabel: "[FILTERED]",
    });
    expect(settings().filteredDebugKeys).toEqual(
      expect.arrayContaining([
        "access_token",
        "refresh_token",
        "id_token",
        "client_secret",
        "assertion",
        "code_verifier",
        "token",
      ]),
    );
  });
});
