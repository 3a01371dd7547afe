import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBasicCredentials, parseBasicCredentials } from "../src/basic-credentials.ts";

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

describe("parseBasicCredentials()", () => {
  it.each([
    null,
    "",
    "Basic",
    "Basic ",
    "Bearer YTpi",
    "Basic !!!!",
    "Basic YTpi extra",
    "Basic YTpiYw=",
    "Basic YTpiYw===",
    "Basic YTpi\u00a0",
    basic("no colon"),
    basic("a:b\n"),
    basic("a\0:b"),
    basic("a:\u0085"),
    `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString("base64")}`,
  ])("refuses %j", (header) => {
    expect(parseBasicCredentials(header)).toBeUndefined();
  });

  it.each(["bAsIc YTpi", "Basic   YTpi", "Basic YTpi  "])("accepts %j", (header) => {
    expect(parseBasicCredentials(header)).toEqual({ username: "a", password: "b" });
  });

  it("keeps a byte order mark at the start of the user name", () => {
    expect(parseBasicCredentials(basic("\uFEFFa:b"))?.username).toBe("\uFEFFa");
  });

  it("reads what formatBasicCredentials() writes, split at the first colon", () => {
    const part = fc
      .string({ unit: "grapheme" })
      .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(
        part.filter((text) => !text.includes(":")),
        part,
        (username, password) => {
          const header = formatBasicCredentials({ username, password });
          expect(header).toBe(basic(`${username}:${password}`));
          expect(parseBasicCredentials(header)).toEqual({ username, password });
        },
      ),
    );
  });
});
