import fc from "fast-check";
import { expect, it } from "vitest";
import { applyEdits } from "../src/files/apply-edits.ts";

const files = new Map([
  ["a.js", "one();\ntwo();\none();\n"],
  ["b.js", "if (x) {\r\n  y();  \r\n}\r\n"],
]);

it.each([
  ["a file that does not exist", { path: "c.js", search: "x", replace: "y" }, "missing-file"],
  ["an empty search", { path: "a.js", search: " \n", replace: "y" }, "empty-search"],
  ["what is not there", { path: "a.js", search: "three();", replace: "y" }, "no-match"],
  ["what is there twice", { path: "a.js", search: "one();", replace: "y" }, "several-matches"],
])("refuses %s, and applies nothing of the list", (_, edit, kind) => {
  const outcome = applyEdits(files, [{ path: "a.js", search: "two();", replace: "2();" }, edit]);
  expect(outcome).toMatchObject({ ok: false, problems: [{ index: 1, path: edit.path, kind }] });
  expect(files.get("a.js")).toContain("two();");
});

it("shows the part that is most like what was searched for", () => {
  const edit = { path: "a.js", search: "two();\none();\none( );", replace: "" };
  expect(applyEdits(files, [edit])).toMatchObject({
    problems: [{ nearest: "one();\ntwo();\none();" }],
  });
});

it("replaces a part, adds a file and replaces a whole one", () => {
  const outcome = applyEdits(files, [
    { path: "a.js", search: "two();\n", replace: "" },
    { path: "new.js", content: "n();\n" },
    { path: "new.js", search: "n()", replace: "m()" },
  ]);
  expect(outcome.ok && [outcome.files.get("a.js"), outcome.files.get("new.js")]).toEqual([
    "one();\none();\n",
    "m();\n",
  ]);
});

it("finds lines in spite of blanks at their ends, and keeps Windows line ends", () => {
  const outcome = applyEdits(files, [
    { path: "b.js", search: "if (x) {\n  y();\n}\n", replace: "if (x) {\n  z();\n}\n" },
  ]);
  expect(outcome.ok && outcome.files.get("b.js")).toBe("if (x) {\r\n  z();\r\n}\r\n");
});

it("takes a replacement with signs of a pattern as it is", () => {
  const outcome = applyEdits(files, [{ path: "a.js", search: "two()", replace: "$&$1$$" }]);
  expect(outcome.ok && outcome.files.get("a.js")).toBe("one();\n$&$1$$;\none();\n");
});

it("changes exactly the one place, for any text around it", () => {
  const text = fc.string({ maxLength: 40 });
  fc.assert(
    fc.property(text, text, text, (before, after, replace) => {
      const search = "\u{1F511}unique";
      fc.pre(!before.includes(search) && !after.includes(search));
      const all = new Map([["f", before + search + after]]);
      const outcome = applyEdits(all, [{ path: "f", search, replace }]);
      expect(outcome.ok && outcome.files.get("f")).toBe(before + replace + after);
    }),
  );
});
