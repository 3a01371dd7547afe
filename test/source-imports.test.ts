import { describe, expect, it } from "vitest";
import { readSource } from "../scripts/source-imports.ts";

describe("readSource", () => {
  it.each([
    ['import a from "x"', ["x"]],
    ['import "x"', ["x"]],
    ['import * as a from "x"', ["x"]],
    ['import type { A } from "./x.ts"', ["./x.ts"]],
    ['import {\n  a,\n  b,\n} from "x"', ["x"]],
    ['export { a } from "x"', ["x"]],
    ['export type { A } from "x"', ["x"]],
    ['export * as a from "x"', ["x"]],
    ['const a = await import("x")', ["x"]],
    ['type A = import("x").B', ["x"]],
    ['// import "x"\n/* export * from "y" */', []],
    ['const a = `import "x"`; const b = \'export * from "y"\'', []],
    ["export { a }; const a = 1", []],
  ])("finds the imports of %j", (text, imports) => {
    expect(readSource("a.ts", text).imports).toEqual(imports);
  });

  it("distinguishes `export *` from `export * as name`", () => {
    const text = 'export * from "x"; export * as y from "y"; export type * from "z"';
    expect(readSource("a.ts", text).starExports).toEqual(["x", "z"]);
  });

  it("finds error codes in values and types, not in comments or longer texts", () => {
    const text = 'type A = "ERR_A_1"; const b = "ERR_B"; /** `ERR_C` */ const d = "is ERR_D";';
    expect(readSource("a.ts", text).errorCodes).toEqual(["ERR_A_1", "ERR_B"]);
  });

  it("rejects an import() with a computed specifier, because no rule can check it", () => {
    expect(() => readSource("a.ts", "await import(name)")).toThrow(
      "import() of what is not a literal: name",
    );
  });

  it("ignores the import of a file that a user names, and nothing else", () => {
    const text = "await import(pathToFileURL(resolve(cwd, module)).href);";
    expect(readSource("module.ts", text).imports).toEqual([]);
    expect(() => readSource("module.ts", "import(other(module).href)")).toThrow("is not a literal");
  });

  it("rejects a text that does not parse", () => {
    expect(() => readSource("a.ts", "const = 1")).toThrow("a.ts: ");
  });
});
