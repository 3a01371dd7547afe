import { describe, expect, it } from "vitest";
import { EndpointError, expand } from "../src/index.ts";
import { malformed, sections, variables } from "./rfc-6570.ts";

describe.each(Object.entries(sections))("RFC 6570 section %s", (_, rows) => {
  it.each(rows)("%s -> %s", (template, expansion) => {
    expect(expand(template, variables)).toBe(expansion);
  });
});

describe("expand, beyond the examples of the RFC", () => {
  it.each([
    ["", {}, ""],
    ["/é/😀", {}, "/%C3%A9/%F0%9F%98%80"],
    ["/%2f/'(a)'", {}, "/%2f/'(a)'"],
    ["{a:1}", { a: "😀b" }, "%F0%9F%98%80"],
    ["{a:2}", { a: "é😀b" }, "%C3%A9%F0%9F%98%80"],
    ["{a}", { a: "\ud800x" }, "%EF%BF%BDx"],
    ["{+a}", { a: "x\udc00" }, "x%EF%BF%BD"],
    ["{a}", { a: "%2F" }, "%252F"],
    ["{+a}", { a: "%2F%zz%" }, "%2F%25zz%25"],
    ["{+a}", { a: "[é]" }, "[%C3%A9]"],
    ["{#a}", { a: "%2F" }, "#%2F"],
    ["{a}", { a: "-._~azAZ09" }, "-._~azAZ09"],
    ["{a}", { a: "!*'()" }, "%21%2A%27%28%29"],
    ["{a,b,c,d}", { a: 0, b: false, c: 12n, d: NaN }, "0,false,12,NaN"],
    ["{a}", { a: new Date(0) }, "1970-01-01T00%3A00%3A00.000Z"],
    ["{+a}", { a: new URL("http://h/?q") }, "http://h/?q"],
    ["{?a}", { a: [] }, ""],
    ["{?a*}", { a: {} }, ""],
    ["{?a*}", { a: [null, 1, undefined, ""] }, "?a=1&a="],
    ["{;a*}", { a: { x: "", y: null, z: 1 } }, ";x;z=1"],
    ["{?a}", { a: [""] }, "?a="],
    ["{%41}", { "%41": 1 }, "1"],
    ["{a.b}", { "a.b": 1 }, "1"],
    ["{42}", { "42": 1 }, "1"],
    ["{?id,token,keys*}", { id: 1, keys: { a: "b" } }, "?id=1&a=b"],
    ["{/id*}{?x}", { id: ["person", "al b"], x: "é" }, "/person/al%20b?x=%C3%A9"],
  ])("%s with %o is %s", (template: string, values, expansion) => {
    expect(expand(template, values)).toBe(expansion);
  });

  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "expand() does not read %s of Object.prototype as a variable",
    (name) => {
      expect(expand(`x{${name}}`, {})).toBe("x");
      expect(expand(`x{${name}}`, Object.fromEntries([[name, 1]]))).toBe("x1");
    },
  );

  it.each([
    ["{a:3}", { a: ["abc"] }],
    ["{a:3}", { a: { b: "c" } }],
    ["{a}", { a: [[1]] }],
    ["{a}", { a: { b: { c: 1 } } }],
    ["{a}", { a: () => 1 }],
    ["{a}", { a: Symbol("a") }],
    ["{a}", { a: new Map() }],
    ["{a}", { a: new Date(NaN) }],
  ] as const)("expand() rejects %s with %o", (template: string, values: object) => {
    expect(() => expand(template, values as never)).toThrow(
      expect.objectContaining({ code: "ERR_ENDPOINT_VALUE", name: "EndpointError" }),
    );
  });

  it.each([
    [{ b: { c: 1 } }, "an object"],
    [new Date(NaN), "an object"],
    [() => 1, "a function"],
    [Symbol("a"), "a symbol"],
  ])("expand() names the variable and the type of %o in its message", (a, type) => {
    const values = { a: typeof a === "object" ? [a] : a } as never;
    expect(() => expand("{a}", values)).toThrow(
      new EndpointError("ERR_ENDPOINT_VALUE", `"a" must be text, got ${type}`),
    );
  });

  it("expand() rejects a list that contains itself", () => {
    const list: unknown[] = [];
    list.push(list);
    expect(() => expand("{a}", { a: list as never })).toThrow(TypeError);
  });

  it("expand() rejects a template that is not a string, and variables that are not an object", () => {
    expect(() => expand(5 as never, {})).toThrow(EndpointError);
    expect(() => expand("{a}", null as never)).toThrow(EndpointError);
  });

  it("onMissing throw rejects a missing variable only where it leaves a hole", () => {
    expect(expand("{a}{+b}{/c}{?d}", {})).toBe("");
    expect(expand("{/c}{?d}{#e}{.f}{;g}{&h}", {}, { onMissing: "throw" })).toBe("");
    for (const template of ["{a}", "{+a}", "{b,a}"]) {
      expect(() => expand(template, { b: "x" }, { onMissing: "throw" })).toThrow(
        expect.objectContaining({ code: "ERR_ENDPOINT_MISSING" }),
      );
    }
  });
});

describe("a malformed template", () => {
  it.each(malformed)("the template %j is malformed at %i", (template, position) => {
    expect(() => expand(template, {})).toThrow(
      expect.objectContaining({ code: "ERR_ENDPOINT_TEMPLATE", position }),
    );
  });
});
