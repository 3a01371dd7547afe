import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBasicCredentials } from "../src/basic-credentials.ts";

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

describe("parseBasicCredentials", () => {
  it.each([
    null,
    "",
    "Basic",
    "Basic ",
    "Bearer YTpi",
    "Basic !!!!",
    "Basic YTpi extra",
    basic("no colon"),
    `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString("base64")}`,
  ])("refuses %j", (header) => {
    expect(parseBasicCredentials(header)).toBeUndefined();
  });

  it("accepts the scheme in any case", () => {
    expect(parseBasicCredentials("bAsIc YTpi")).toEqual({ username: "a", password: "b" });
  });

  it("splits at the first colon, whatever the text", () => {
    const name = fc.string({ unit: "grapheme" }).filter((text) => !text.includes(":"));
    fc.assert(
      fc.property(name, fc.string({ unit: "grapheme" }), (username, password) => {
        fc.pre(username.isWellFormed() && password.isWellFormed());
        expect(parseBasicCredentials(basic(`${username}:${password}`))).toEqual({
          username,
          password,
        });
      }),
    );
  });
});
