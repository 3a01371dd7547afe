import { describe, expect, it } from "vitest";
import { checkConsistency } from "../src/check/check-consistency.ts";

/** Whether a call without the argument is an error. */
async function isNeeded(body: string): Promise<boolean> {
  const source = `function f(a) {\n${body}\n}\nf();\n`;
  const found = await checkConsistency(new Map([["a.js", source]]));
  return found.some(({ code, severity }) => code === "arity" && severity === "error");
}

describe("an argument that is left out", () => {
  it.each([
    "return a.length;",
    "return a.b.c(1);",
    "a();",
    "const { b } = a;",
    "const x = 1;\nreturn x + a.b;",
    "for (const one of a) one();",
    "if (a.length > 1) return 1;",
    "switch (a.kind) { default: }",
    "a.b = 1;",
    "return `x ${a.b}`;",
    "return [1, { x: a.b }];",
    "throw new Error(a.text);",
    "return a.b || 1;",
    "function inner() {}\nreturn a.b;",
    "return a[0];",
  ])("is an error where it breaks: %s", async (body) => {
    expect(await isNeeded(body)).toBe(true);
  });

  it.each([
    "return a;",
    "return a?.length;",
    "a = a || {};\nreturn a.b;",
    "a ??= [];\nreturn a.length;",
    "if (!a) return;\nreturn a.length;",
    "if (a) return a.length;",
    "return a && a.length;",
    "return a === undefined ? 0 : a.length;",
    "return typeof a === 'string' ? a.length : 0;",
    "const has = a !== undefined;\nreturn has && a.length;",
    "return () => a.length;",
    "try { return a.length; } catch { return 0; }",
    "while (x()) a.y();",
    "if (x()) a.y();",
    "return x ? a.y : 1;",
    "return { a: 1 }.a;",
    "return b.a;",
    "return x() ? 1 : a.b;",
    "const copy = { ...a };\nreturn copy;",
    "const { b } = a ?? {};",
    "return delete b[a];",
  ])("is none where it may be meant: %s", async (body) => {
    expect(await isNeeded(body)).toBe(false);
  });
});
