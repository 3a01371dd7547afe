import { resolve, sep } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorTime } from "../../../kit/test/processor-time.ts";
import { parseRange } from "../../src/node/byte-range.ts";
import { filePathOf } from "../../src/node/file-path.ts";

const posix = { dotFiles: new Set([".well-known"]), isWindows: false };
const windows = { ...posix, isWindows: true };

describe("filePathOf", () => {
  it.each([
    "",
    "a",
    "/..",
    "/../etc/passwd",
    "/a/../b",
    "/a/..",
    "/.",
    "/a/./b",
    "/...",
    "/%2e%2e/etc/passwd",
    "/%2E./a",
    "/.%2e/a",
    "/..%2f..%2fetc%2fpasswd",
    "/..%5c..%5cetc",
    "/a%2fb",
    "/a%5Cb",
    "/a\\b",
    "/..\\a",
    "/a//b",
    "//a",
    "/a%00.html",
    "/a%0d%0ab",
    "/%7f",
    "/%",
    "/%zz",
    "/%c0%ae%c0%ae/a",
    "/%ff",
    "/.git/config",
    "/a/.env",
    "/%2eenv",
    "/.well-knownx",
  ])("refuses %j", (path) => {
    expect(filePathOf(path, posix)).toBeUndefined();
    expect(filePathOf(path, windows)).toBeUndefined();
  });

  it.each([
    "/C:",
    "/C:/a",
    "/a.txt:stream",
    "/a.txt::$DATA",
    "/a.txt.",
    "/a.txt%20",
    "/%20a",
    "/GIT~1/config",
    "/con",
    "/CON.txt",
    "/aux.js",
    "/com1",
    "/COM¹.a",
    "/lpt9.x.y",
    "/conin$",
    "/nul%20.txt",
    "/a*b",
    "/a%3fb",
    "/a%22b",
  ])("refuses %j on Windows", (path) => {
    expect(filePathOf(path, windows)).toBeUndefined();
  });

  it.each([
    ["/", []],
    ["/a", ["a"]],
    ["/a/", ["a"]],
    ["/a/b.c", ["a", "b.c"]],
    ["/%61", ["a"]],
    ["/a%20b%25", ["a b%"]],
    ["/%252e%252e/a", ["%2e%2e", "a"]],
    ["/%C3%A9", ["é"]],
    ["/a..b/c...d", ["a..b", "c...d"]],
    ["/.well-known/security.txt", [".well-known", "security.txt"]],
    ["/console.txt", ["console.txt"]],
  ])("reads %j as %j", (path, names) => {
    expect(filePathOf(path, posix)).toEqual(names);
    expect(filePathOf(path, windows)).toEqual(names);
  });

  it("never leaves the root, never names what is hidden, and decodes once", () => {
    const spelled = String.raw`/ \ . .. a %2e %2E %2f %5c %252e %00 % %c0%ae : ~1 é ‥ ． %ef%bc%8e`;
    const piece = fc.constantFrom(" ", ...spelled.split(" "));
    const path = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join("")}`),
      fc.string({ unit: "binary" }).map((text) => `/${text}`),
    );
    fc.assert(
      fc.property(path, (path) => {
        const names = filePathOf(path, posix);
        if (names === undefined) return;
        const root = `${sep}srv${sep}root`;
        const file = resolve(root, ...names);
        expect(file === root || file.startsWith(root + sep)).toBe(true);
        expect(file).toBe([root, ...names].join(sep));
        for (const name of names) expect(name).not.toMatch(/^\.(?!well-known$)|[/\\\0]/);
        expect(`/${names.map(encodeURIComponent).join("/")}`).toBe(
          `/${path
            .slice(1)
            .replace(/\/$/, "")
            .split("/")
            .map((part) => encodeURIComponent(decodeURIComponent(part)))
            .join("/")}`,
        );
      }),
      { numRuns: 2000 },
    );
  });
});

describe("parseRange", () => {
  it.each([
    [null, undefined],
    ["items=0-1", undefined],
    ["bytes", undefined],
    ["bytes=", undefined],
    ["bytes=-", undefined],
    ["bytes=a-b", undefined],
    ["bytes=2-1", undefined],
    ["bytes=0-1,,2-3", undefined],
    ["bytes=0-0x9", undefined],
    ["bytes=1 - 2", undefined],
    ["bytes=0-5,3-8", undefined],
    ["bytes=0-,0-", undefined],
    [`bytes=${Array.from({ length: 17 }, () => "1-1").join()}`, undefined],
    ["bytes=10-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=99-100,50-", "unsatisfiable"],
    ["bytes=0-0", [{ start: 0, end: 0 }]],
    [`bytes=0-0${",99-".repeat(15)}`, [{ start: 0, end: 0 }]],
    [`bytes=0-0${",99-".repeat(16)}`, undefined],
    ["Bytes=0-4", [{ start: 0, end: 4 }]],
    ["bytes=5-", [{ start: 5, end: 9 }]],
    ["bytes=-3", [{ start: 7, end: 9 }]],
    ["bytes=-99", [{ start: 0, end: 9 }]],
    ["bytes=8-99", [{ start: 8, end: 9 }]],
    [
      "bytes=8-9, 0-1\t,50-",
      [
        { start: 8, end: 9 },
        { start: 0, end: 1 },
      ],
    ],
  ])("reads %j as %j", (field, ranges) => {
    expect(parseRange(field, 10)).toEqual(ranges);
  });

  it("returns ranges inside the file, never more bytes than it has, in linear time", () => {
    const spec = fc.tuple(fc.option(fc.nat(30)), fc.option(fc.nat(30)));
    const field = fc
      .array(spec)
      .map((specs) => `bytes=${specs.map(([a, b]) => `${a ?? ""}-${b ?? ""}`).join(",")}`);
    fc.assert(
      fc.property(field, fc.nat(20), (field, size) => {
        const ranges = parseRange(field, size);
        if (!Array.isArray(ranges)) return;
        let sum = 0;
        for (const { start, end } of ranges) {
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeGreaterThanOrEqual(start);
          expect(end).toBeLessThan(size);
          sum += end - start + 1;
        }
        expect(sum).toBeLessThanOrEqual(size);
      }),
    );
  });

  it("reads ranges in linear time, or this would take minutes", () => {
    const begun = processorTime();
    parseRange(`bytes=${"0-".repeat(1_000_000)}`, 10);
    parseRange(`bytes=${" ".repeat(1_000_000)}x`, 10);
    parseRange(`bytes=0-${" ".repeat(1_000_000)}x`, 10);
    parseRange(`bytes=${"\t ".repeat(500_000)}0-${" ".repeat(500_000)}x`, 10);
    expect(processorTime(begun)).toBeLessThan(4_000);
  });
});
