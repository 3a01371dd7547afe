import { providers } from "@fetchwork/oauth2/sign-in";
import { describe, expect, it } from "vitest";
import {
  type AccountProvider,
  checkProviders,
  isOf,
  knownProviders,
} from "../../../src/accounts/providers/account-provider.ts";

describe("providers of accounts", () => {
  const home = { name: "home", issuer: "https://home.example", clientId: "id" };

  it.each<[string, readonly AccountProvider[]]>([
    ["invalid name", [{ ...home, name: "Home" }]],
    ["invalid name", [{ ...home, name: "a/b" }]],
    ["a preset and an issuer", [{ ...home, preset: providers.google }]],
    ["neither preset nor issuer", [{ name: "home", clientId: "id" }]],
    ["neither preset nor issuer", [{ name: "constructor", clientId: "id" }]],
    ["no clientId", [{ ...home, clientId: "" }]],
    ["is its clientId", [{ ...home, audience: "id" }]],
    ["two providers", [home, { ...home, issuer: "https://other.example" }]],
    ["two providers", [home, { ...home, name: "other", issuer: "https://home.example/" }]],
  ])("are refused with: %s", (message, given) => {
    expect(() => checkProviders(given)).toThrow(message);
  });

  it("are known by the names and issuers of the presets", () => {
    const presets = Object.entries(providers).map(([name, { expectedIssuer, issuer }]) => [
      name,
      expectedIssuer ?? issuer,
    ]);
    expect(knownProviders).toEqual(Object.fromEntries(presets));
    expect(() => checkProviders([{ name: "github", clientId: "id" }])).not.toThrow();
  });

  it("have the users of their issuer, with or without a slash, and of every tenant", () => {
    const microsoft = { name: "microsoft", clientId: "id" };
    const tenant = (id: string): string => `https://login.microsoftonline.com/${id}/v2.0`;
    expect(isOf(home, "https://home.example/")).toBe(true);
    expect(isOf(home, "https://home.example.evil")).toBe(false);
    expect(isOf(microsoft, tenant("8eaef023-2b34-4da1-9baa-8bc8c9d6a490"))).toBe(true);
    expect(isOf(microsoft, tenant("a/b"))).toBe(false);
    expect(isOf(microsoft, "https://evil.example/a/v2.0")).toBe(false);
  });
});
