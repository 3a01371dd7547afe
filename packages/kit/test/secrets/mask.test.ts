import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskForm, maskHeaders, maskJson, maskUrl } from "../../src/secrets/mask.ts";

describe("maskUrl", () => {
  it.each([
    ["/a", "/a"],
    ["/a?b=c#d", "/a?b=c#d"],
    ["https://app/cb?code=SECRET&state=x", "https://app/cb?code=***&state=x"],
    ["https://app/#access_token=S&x=1", "https://app/#access_token=***&x=1"],
    ["https://app/#/home?token=S", "https://app/#/home?token=***"],
    ["https://ada:s3cret@host/a@b", "https://***@host/a@b"],
    ["//ada@host", "//***@host"],
    ["https://host?token=a/b@c", "https://host?token=***"],
    ["/a?x=1;token=S;y=2&z=3", "/a?x=1;token=***&z=3"],
    ["/a?to%6ben=S", "/a?to%6ben=***"],
    ["/a?user%5Bpassword%5D=S&%=1", "/a?user%5Bpassword%5D=***&%=1"],
    ["?a=1?token=S", "?a=1?token=S"],
  ])("masks %s", (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
  });

  it("uses the given label and names", () => {
    const options = { label: "********", isSecret: (name: string) => name === "q" };
    expect(maskUrl("/a?q=1&token=2", options)).toBe("/a?q=********&token=2");
  });

  it("never shows the value of a secret parameter, wherever it is written", () => {
    const canary = "CANARY";
    const name = fc.constantFrom(
      "token",
      "code",
      "p%61ssword",
      "Client_Secret",
      "a[sig]",
      "+token",
    );
    const noise = fc.array(fc.constantFrom("a=b", "", "=", "%", "x", "c=d=e"), { maxLength: 3 });
    fc.assert(
      fc.property(
        fc.constantFrom("?", "#", "/x?", "https://u@h/?"),
        name,
        noise,
        noise,
        (...parts) => {
          const [start, secret, before, after] = parts;
          const url = start + [...before, `${secret}=${canary}`, ...after].join("&");
          expect(maskUrl(url)).not.toContain(canary);
        },
      ),
    );
  });

  it("runs in a time proportional to the length", () => {
    for (const part of ["?", "#", "&", ";", "=", "%", "@", "//", "token="]) {
      expect(maskUrl(`/?${part.repeat(200_000)}`).length).toBeGreaterThan(0);
    }
  });
});

describe("maskForm", () => {
  it("masks secret values and keeps every other byte", () => {
    expect(maskForm("grant_type=password&username=ada&password=S%20T&scope=a+b")).toBe(
      "grant_type=password&username=ada&password=***&scope=a+b",
    );
  });
});

describe("maskJson", () => {
  it("masks secret members at any depth, and not the code of an error", () => {
    const value = { code: "ERR_X", a: [{ token: "S" }], password: { deep: "S" }, session: null };
    expect(maskJson(value)).toEqual({
      code: "ERR_X",
      a: [{ token: "***" }],
      password: "***",
      session: null,
    });
    expect(value.a).toEqual([{ token: "S" }]);
  });

  it.each([undefined, null, 1, "text", [1]])("returns %j unchanged", (value) => {
    expect(maskJson(value)).toEqual(value);
  });
});

describe("maskHeaders", () => {
  it("masks secret headers and the secrets in URLs of the others", () => {
    const headers = new Headers({
      Authorization: "Bearer S",
      "X-Api-Key": "S",
      Location: "https://app/cb?code=S&state=x",
      Link: '<https://u:S@host/?token=S>; rel="next"',
      "Content-Type": "text/plain",
    });
    expect({ ...maskHeaders(headers) }).toEqual({
      authorization: "***",
      "x-api-key": "***",
      location: "https://app/cb?code=***&state=x",
      link: '<https://***@host/?token=***>; rel="next"',
      "content-type": "text/plain",
    });
  });

  it("joins values of one name, whatever its case, and keeps names of the prototype", () => {
    const pairs = [
      ["A", "1"],
      ["a", "2"],
      ["__proto__", "3"],
    ] as const;
    expect(Object.entries(maskHeaders(pairs))).toEqual([
      ["a", "1, 2"],
      ["__proto__", "3"],
    ]);
  });

  it("uses the given label and names", () => {
    const isSecret = (name: string): boolean => name === "x-a";
    const pairs = [
      ["X-A", "S"],
      ["authorization", "shown"],
    ] as const;
    expect({ ...maskHeaders(pairs, { label: "-", isSecret }) }).toEqual({
      "x-a": "-",
      authorization: "shown",
    });
  });
});
