import { expect, it } from "vitest";
import { findElisions } from "../src/files/find-elisions.ts";

it.each([
  ["// ... rest of the code", "a.js"],
  ["// ... existing code ...", "a.js"],
  ["// ...", "a.ts"],
  ["  # … remaining methods stay the same", "a.py"],
  ["# rest of the file unchanged", "a.py"],
  ["<!-- rest of the markup here ... -->", "a.html"],
  ["/* ... other styles ... */", "a.css"],
  ["{/* ... existing components code */}", "a.jsx"],
  ["-- ... same code as before", "a.sql"],
  ["// your code goes here", "a.js"],
  ["// Implementation omitted", "a.js"],
  ["  // rest of the implementation remains the same", "a.ts"],
])("findElisions finds %j in %s", (line, path) => {
  expect(findElisions(`x\n${line}\n`, path)).toEqual([{ line: 2, text: expect.any(String) }]);
});

it.each([
  ["f(...rest); // the rest of the arguments", "a.js"],
  ["const { a, ...others } = existing;", "a.js"],
  ["// Waits... then the other player moves", "a.js"],
  ["// Keeps the existing files", "a.ts"],
  ["// Loading...", "a.js"],
  ["# Same as above, but for rows", "a.py"],
  ["    ...", "a.py"],
  ["// TODO: colours", "a.js"],
  ["/* Rest of the page: header and footer */", "a.css"],
  ["// ... rest of the code", "README.md"],
  ["#!/usr/bin/env node", "a.js"],
])("findElisions leaves %j in %s alone", (line, path) => {
  expect(findElisions(`${line}\n`, path)).toEqual([]);
});
