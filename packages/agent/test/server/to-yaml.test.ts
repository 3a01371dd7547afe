import { expect, it } from "vitest";
import { toYaml } from "../../src/server/to-yaml.ts";

it.each([
  ["words", { a: "plain", b: "two words" }, 'a: plain\nb: "two words"\n'],
  ["what is no text", { a: "true", b: "no", c: "1", d: "" }, 'a: "true"\nb: "no"\nc: "1"\nd: ""\n'],
  ["scalars", { a: true, b: null, c: 1.5 }, "a: true\nb: null\nc: 1.5\n"],
  ["keys", { "200": 1, "/a/{b}": 2, $ref: 3 }, '"200": 1\n"/a/{b}": 2\n"$ref": 3\n'],
  ["nested objects", { a: { b: { c: 1 } } }, "a:\n  b:\n    c: 1\n"],
  ["lists", { a: [1, { b: 2, c: 3 }] }, "a:\n  - 1\n  - b: 2\n    c: 3\n"],
  ["empty ones", { a: {}, b: [] }, "a: {}\nb: []\n"],
  ["lists of lists", [[1, 2], [3]], "- - 1\n  - 2\n- - 3\n"],
  ["line breaks and quotes", { a: 'x\n"y"' }, 'a: "x\\n\\"y\\""\n'],
])("writes %s", (_, value, yaml) => {
  expect(toYaml(value)).toBe(yaml);
});
