import { describe, expect, it } from "vitest";
import { isLoopbackHost } from "../../src/addresses/loopback-host.ts";

describe("isLoopbackHost()", () => {
  it.each([
    "localhost",
    "app.localhost",
    "a.b.localhost",
    "127.0.0.1",
    "127.255.0.3",
    "::1",
    "[::1]",
  ])("accepts %s", (hostname) => expect(isLoopbackHost(hostname)).toBe(true));

  it.each([
    "",
    ".localhost",
    "localhost.example",
    "notlocalhost",
    "localhost.",
    "127.0.0.1.example",
    "127.0.0",
    "128.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "::",
    "[::2]",
    "[::1",
    "::ffff:127.0.0.1",
  ])("rejects %j", (hostname) => expect(isLoopbackHost(hostname)).toBe(false));

  it("accepts the host name of a URL with a short form of an address", () => {
    expect(isLoopbackHost(new URL("http://127.1/").hostname)).toBe(true);
  });
});
