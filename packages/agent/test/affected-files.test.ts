import { describe, expect, it } from "vitest";
import { affectedBy } from "../src/check/affected-files.ts";
import { checkConsistency } from "../src/check/check-consistency.ts";

/** A program of 200 modules, each of which imports the one before it. */
const program = (): Map<string, string> =>
  new Map(
    Array.from({ length: 200 }, (_, index) => [
      `src/part-${index}.js`,
      index === 0
        ? "export const part0 = 0;\n"
        : `import { part${index - 1} } from "./part-${index - 1}.js";\nexport const part${index} = part${index - 1};\n`,
    ]),
  );

describe("affectedBy", () => {
  it("names a changed file and those that name it", () => {
    expect([...(affectedBy(["src/part-7.js"], program()) ?? [])].slice(0, 2)).toEqual([
      "src/part-7.js",
      "src/part-8.js",
    ]);
  });

  it("names importers of a folder's main file", () => {
    const files = program()
      .set("src/shapes/index.js", "export const x = 1;\n")
      .set("src/user.js", 'import { x } from "./shapes";\nconsole.log(x);\n');
    expect([...(affectedBy(["src/shapes/index.js"], files) ?? [])]).toEqual([
      "src/shapes/index.js",
      "src/user.js",
    ]);
  });

  it.each(["package.json", "tsconfig.json", "page.html", "a.css", "types.d.ts"])(
    "is everything for a change of %s",
    (path) => expect(affectedBy([path], program())).toBe(undefined),
  );

  it("is everything in a small program, and where a page maps imports", () => {
    expect(affectedBy(["a.js"], new Map([["a.js", ""]]))).toBe(undefined);
    const files = program().set("x.html", '<script type="importmap">{}</script>');
    expect(affectedBy(["src/part-7.js"], files)).toBe(undefined);
  });
});

describe("the check of some files", () => {
  it.each([
    ["a missing export", "export const other = 7;\n", 'does not export "part7"'],
    ["a missing file", 'import "./nowhere.js";\nexport const part7 = 7;\n', "nowhere.js"],
    ["a syntax error", "export const part7 = ;\n", "Unexpected token"],
  ])("finds %s that a change makes", async (_, text, said) => {
    const files = program().set("src/part-7.js", text);
    const only = affectedBy(["src/part-7.js"], files);
    const all = await checkConsistency(files);
    const some = await checkConsistency(files, undefined, only);
    expect(all.map(({ message }) => message).join("\n")).toContain(said);
    expect(some).toEqual(all);
  });

  it("looks through what re-exports, which is not checked itself", async () => {
    const files = program()
      .set("src/all.js", 'export * from "./part-1.js";\nexport * from "./part-2.js";\nlet (;\n')
      .set("src/deep.js", 'export * from "./more.js";\n')
      .set("src/more.js", 'export * from "./part-2.js";\n')
      .set("src/part-7.js", 'export { part2 as part7 } from "./deep.js";\n');
    const only = affectedBy(["src/part-7.js"], files);
    expect(await checkConsistency(files, undefined, only)).toEqual([]);
    files.set("src/part-7.js", 'export { part9 as part7 } from "./deep.js";\n');
    expect(await checkConsistency(files, undefined, only)).toMatchObject([
      { path: "src/part-7.js", code: "missing-export" },
    ]);
  });
});
