import { describe, expect, it } from "vitest";
import { HostCheck } from "../../../src/node/request/host-check.ts";

describe("HostCheck", () => {
  it.each(["a", "a.b", "a.b.", "a_b", "localhost:9000", "1.2.3.4", "[::1]", "[::1]:80", "a:0"])(
    "takes %j, the first time and the next",
    (host) => {
      const hosts = new HostCheck();
      expect([hosts.isValid(host), hosts.isValid(host)]).toEqual([true, true]);
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
  ])("refuses %j, the first time and the next", (host) => {
    const hosts = new HostCheck();
    expect([hosts.isValid(host), hosts.isValid(host)]).toEqual([false, false]);
  });

  it("goes on after more hosts than it remembers", () => {
    const hosts = new HostCheck();
    for (let count = 0; count < 1000; count += 1) {
      expect(hosts.isValid(`h${count}`)).toBe(true);
      expect(hosts.isValid(`a:9999${count}`)).toBe(false);
    }
  });
});
