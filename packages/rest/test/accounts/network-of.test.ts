import { expect, it } from "vitest";
import { networkOf } from "../../src/attempt-limiter.ts";

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["unknown", "unknown"],
  ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"],
  ["2001:DB8::1", "2001:db8::/64"],
  ["2001:0db8:0000:0000:ffff::1", "2001:db8::/64"],
  ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
  ["::1", "::/64"],
  ["::", "::/64"],
  ["fe80::1%eth0", "fe80::/64"],
  ["fe80:0:0:0:1::", "fe80::/64"],
])("the network of %s is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
