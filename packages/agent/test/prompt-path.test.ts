import { expect, it } from "vitest";
import { pathOf } from "../src/acp/prompt-blocks.ts";

const windows = String.raw`C:\work\shop`;

it.each([
  ["file:///work/shop/src/a.js", "/work/shop", false, "src/a.js"],
  ["file:///work/other/a.js", "/work/shop", false, "file:///work/other/a.js"],
  ["file:///c:/work/shop/src/a.js", windows, true, "src/a.js"],
  ["file:///C:/work/other/a.js", windows, true, "file:///C:/work/other/a.js"],
  ["file:///D:/work/shop/a.js", windows, true, "file:///D:/work/shop/a.js"],
  ["file:///work/shop/a.js", windows, true, "file:///work/shop/a.js"],
  ["https://example.com/a.js", windows, true, "https://example.com/a.js"],
])("the path of %s in %s (Windows: %s) is %s", (uri, folder, isWindows, path) => {
  expect(pathOf(uri, folder, isWindows)).toBe(path);
});
