import { describe, expect, it } from "vitest";
import { HostCheck } from "../../../src/node/request/request-head.ts";

describe("HostCheck", () => {
  it.each(["a", "a.b", "a.b.", "a_b", "localhost:9000", "1.2.3.4", "[::1]", "[::1]:80", "a:0"])(
    "accepts %j, the first time and the next",
    (host) => {
      const hosts = new HostCheck();
      const kind = hosts.kindOf(host);
      expect(kind).toMatch(/^(?:plain|valid)$/);
      expect(hosts.kindOf(host)).toBe(kind);
    },
  );

  it.each([
    "",
    " ",
    "a/b",
    "u@a",
    "a..b",
    "a:",
    "a:x",
    "a:99999",
    "a:123456",
    "1.2.3.4.5",
    "999.1.1.1",
    "0x100000000",
    "[:]",
    "[::1::2]",
    "[::1",
  ])("rejects %j, the first time and the next", (host) => {
    const hosts = new HostCheck();
    expect([hosts.kindOf(host), hosts.kindOf(host)]).toEqual(["invalid", "invalid"]);
  });

  it.each([
    ["localhost:3000", "plain"],
    ["LOCALHOST", "valid"],
    ["a:80", "valid"],
    ["a:443", "valid"],
    ["0x7f.1", "valid"],
    ["[0::1]", "valid"],
  ])("says that %j is %s, by what the URL parser makes of it", (host, kind) => {
    expect(new HostCheck().kindOf(host)).toBe(kind);
  });

  it("works after more hosts than it remembers", () => {
    const hosts = new HostCheck();
    for (let count = 0; count < 1000; count += 1) {
      expect(hosts.kindOf(`h${count}`)).toBe("plain");
      expect(hosts.kindOf(`a:9999${count}`)).toBe("invalid");
    }
  });
});
