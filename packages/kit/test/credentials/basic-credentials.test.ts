import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatBasicCredentials,
  parseBasicCredentials,
} from "../../src/credentials/basic-credentials.ts";
import { UsageError } from "../../src/errors/fetchwork-error.ts";

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

describe("parseBasicCredentials", () => {
  it.each([
    ["a missing header", null],
    ["an empty header", ""],
    ["another scheme", `Bearer ${encoded("a:b")}`],
    ["a scheme without a separator", `Basic${encoded("a:b")}`],
    ["a tab after the scheme", `Basic\t${encoded("a:b")}`],
    ["nothing after the scheme", "Basic "],
    ["missing padding", "Basic YTpiYw"],
    ["incomplete padding", "Basic YTpiYw="],
    ["base64url", "Basic -_-_"],
    ["text after the credentials", `Basic ${encoded("a:b")} x`],
    ["credentials without a colon", `Basic ${encoded("ab")}`],
    ["bytes that are not UTF-8", `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString("base64")}`],
    ["NUL in the password", `Basic ${encoded("a:b\0")}`],
    ["a line break in the user name", `Basic ${encoded("a\n:b")}`],
    ["a C1 control character", `Basic ${encoded("a:\u0085")}`],
  ])("rejects %s", (_, header) => {
    expect(parseBasicCredentials(header)).toBeUndefined();
  });

  it.each([
    ["Basic", { username: "ada", password: "s3cret" }],
    ["bAsIc", { username: "ada", password: "s3cret" }],
    ["Basic  ", { username: "", password: "" }],
    ["Basic", { username: "a", password: "b:c:d" }],
    ["Basic", { username: "ädä", password: "pässwört ☃" }],
    ["Basic", { username: "\ufeffada", password: "s3cret" }],
  ])("reads %s credentials %j", (scheme, credentials) => {
    const { username, password } = credentials;
    const header = `${scheme} ${encoded(`${username}:${password}`)}`;
    expect(parseBasicCredentials(header)).toEqual(credentials);
    expect(parseBasicCredentials(`${header} `)).toEqual(credentials);
  });

  it("reads what formatBasicCredentials() writes", () => {
    const part = fc.string({ unit: "binary" }).filter((text) => !/\p{Cc}|\p{Cs}/u.test(text));
    const user = part.filter((text) => !text.includes(":"));
    fc.assert(
      fc.property(user, part, (username, password) => {
        const header = formatBasicCredentials({ username, password });
        expect(parseBasicCredentials(header)).toEqual({ username, password });
      }),
    );
  });
});

describe("formatBasicCredentials", () => {
  it.each([
    { username: "a:b", password: "c" },
    { username: "a", password: "b\r\nX-Injected: 1" },
    { username: "a\0", password: "b" },
  ])("throws for %j, which no server can read", (credentials) => {
    expect(() => formatBasicCredentials(credentials)).toThrow(UsageError);
  });
});
