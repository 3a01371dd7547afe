import { openStore } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished } from "vitest";
import { accounts, defineUser } from "../../src/accounts/index.ts";
import { RestError } from "../../src/errors.ts";

describe("open of accounts", () => {
  it.each([
    { origin: "https://app.example/" },
    { origin: "app.example" },
    { origin: "" },
    { linkOrigins: ["https://app.example", "https://www.example/pages"] },
  ])("refuses what no page can have as its origin: %j", async (wrong) => {
    const store = await openStore("sqlite::memory:");
    onTestFinished(() => store.close());
    const { open } = accounts({ user: defineUser() });
    const settings = { title: "App", masterKey: "m".repeat(32), jwtSecret: "j".repeat(32) };
    expect(() => open(store, { ...settings, ...wrong })).toThrow(RestError);
    expect(() => open(store, { ...settings, ...wrong })).toThrow(/^invalid origin ".*": expected/);
    expect(() => open(store, { ...settings, origin: "https://app.example" })).not.toThrow();
  });
});
