import { describe, expect, it } from "vitest";
import { type LookupAll, publicLookup } from "../../../src/node/sender/deliveries/public-lookup.ts";

const answer =
  (...addresses: readonly string[]): LookupAll =>
  (_, __, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );

function look(lookup: LookupAll, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    publicLookup(lookup)("example.com", { all }, (error, found, family) => {
      if (error === null) resolve(all ? found : [found, family]);
      else reject(error);
    });
  });
}

describe("publicLookup", () => {
  it.each([
    [["127.0.0.1"]],
    [["93.184.215.14", "10.0.0.1"]],
    [["10.0.0.1", "93.184.215.14"]],
    [["2606:2800:21f::1", "::1"]],
    [["::ffff:10.0.0.1"]],
    [["168.63.129.16"]],
  ])("publicLookup() refuses a name with %j among its addresses", async (addresses) => {
    for (const all of [true, false]) {
      await expect(look(answer(...addresses), all)).rejects.toMatchObject({
        code: "ERR_WEBHOOKS_TARGET",
      });
    }
  });

  it("publicLookup() returns all public addresses or the first", async () => {
    const lookup = answer("93.184.215.14", "2606:2800:21f::1");
    expect(await look(lookup, false)).toEqual(["93.184.215.14", 4]);
    expect(await look(lookup, true)).toEqual([
      { address: "93.184.215.14", family: 4 },
      { address: "2606:2800:21f::1", family: 6 },
    ]);
  });

  it("publicLookup() fails without an address, and with the error of the system", async () => {
    await expect(look(answer(), true)).rejects.toThrow("no address");
    const unknown = Object.assign(new Error("ENOTFOUND"), { code: "ENOTFOUND" });
    const failing: LookupAll = (_, __, callback) => callback(unknown, []);
    await expect(look(failing, false)).rejects.toBe(unknown);
  });
});
