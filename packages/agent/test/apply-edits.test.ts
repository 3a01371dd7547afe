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
])("applyEdits refuses %s, and applies nothing of the list", (_, edit, kind) => {
  const outcome = applyEdits(files, [{ path: "a.js", search: "two();", replace: "2();" }, edit]);
  expect(outcome).toMatchObject({ ok: false, problems: [{ index: 1, path: edit.path, kind }] });
  expect(files.get("a.js")).toContain("two();");
});

it("applyEdits shows the part that is most like what was searched for", () => {
  const edit = { path: "a.js", search: "two();\none();\none( );", replace: "" };
  expect(applyEdits(files, [edit])).toMatchObject({
    problems: [{ nearest: "one();\ntwo();\none();" }],
  });
});

it("applyEdits replaces a part, adds a file and replaces a whole one", () => {
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

it("applyEdits finds lines in spite of blanks at their ends, and keeps Windows line ends", () => {
  const outcome = applyEdits(files, [
    { path: "b.js", search: "if (x) {\n  y();\n}\n", replace: "if (x) {\n  z();\n}\n" },
  ]);
  expect(outcome.ok && outcome.files.get("b.js")).toBe("if (x) {\r\n  z();\r\n}\r\n");
});

it.each([
  ["a line by several", "two();", "2();\n3();", "one();\r\n2();\r\n3();\r\nfour();\r\n"],
  [
    "lines without the end of the last",
    "one();\ntwo();",
    "1();\n2();",
    "1();\r\n2();\r\nfour();\r\n",
  ],
  [
    "a line that is indented elsewhere",
    "  two();",
    "  2();\n  3();",
    "one();\r\n2();\r\n3();\r\nfour();\r\n",
  ],
  ["lines that end as the file does", "two();\r\n", "2();\r\n", "one();\r\n2();\r\nfour();\r\n"],
])(
  "applyEdits keeps the line ends and the byte order mark of a file where it replaces %s",
  (_, search, replace, after) => {
    const all = new Map([["w.cs", "\uFEFFone();\r\ntwo();\r\nfour();\r\n"]]);
    const outcome = applyEdits(all, [{ path: "w.cs", search, replace }]);
    expect(outcome.ok && outcome.files.get("w.cs")).toBe(`\uFEFF${after}`);
  },
);

it("applyEdits keeps the line ends and the byte order mark of a file that is replaced as a whole", () => {
  const all = new Map([["w.cs", "\uFEFFone();\r\n"]]);
  const outcome = applyEdits(all, [{ path: "w.cs", content: "one();\ntwo();\n" }]);
  expect(outcome.ok && outcome.files.get("w.cs")).toBe("\uFEFFone();\r\ntwo();\r\n");
});

it("applyEdits leaves the line ends of a file alone that has both", () => {
  const all = new Map([["w.cs", "one();\ntwo();\r\nfour();\n"]]);
  const outcome = applyEdits(all, [{ path: "w.cs", search: "one();\n", replace: "1();\n2();\n" }]);
  expect(outcome.ok && outcome.files.get("w.cs")).toBe("1();\n2();\ntwo();\r\nfour();\n");
});

it("applyEdits takes a replacement with signs of a pattern as it is", () => {
  const outcome = applyEdits(files, [{ path: "a.js", search: "two()", replace: "$&$1$$" }]);
  expect(outcome.ok && outcome.files.get("a.js")).toBe("one();\n$&$1$$;\none();\n");
});

it("applyEdits changes exactly the one place, for any text around it", () => {
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
