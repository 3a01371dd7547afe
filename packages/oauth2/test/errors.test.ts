import { errorBrand, isFetchworkError, UsageError } from "@fetchwork/kit";
import { describe, expect, it } from "vitest";
import * as core from "../src/index.ts";
import * as oidc from "../src/oidc/index.ts";

const classes = Object.entries({ ...core, ...oidc }).filter(
  ([, value]) => typeof value === "function" && value.prototype instanceof Error,
);

describe("error classes", () => {
  it("are found", () => {
    expect(classes.length).toBeGreaterThanOrEqual(12);
  });

  it.each(classes)("%s carries the brand of Fetchwork's errors", (_name, errorClass) => {
    const prototype: unknown = Object(errorClass).prototype;
    expect(isFetchworkError(Object.create(Object(prototype)))).toBe(true);
    expect(
      Object.getOwnPropertyDescriptor(Object(prototype), errorBrand)?.enumerable ?? false,
    ).toBe(false);
  });

  it("OAuth2UsageError is the kit's UsageError, a TypeError", () => {
    const error = new core.OAuth2UsageError("ERR_OAUTH_OPTION", "wrong");
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ name: "OAuth2UsageError", code: "ERR_OAUTH_OPTION" });
  });

  it("isFetchworkError() recognises an error that a client throws", async () => {
    const client = new core.OAuth2Client("id", null, {
      site: "https://server.example",
      fetch: async () => Response.json({ error: "invalid_client" }, { status: 401 }),
    });
    const error: unknown = await client.clientCredentials.getToken().catch((e: unknown) => e);
    expect(isFetchworkError(error)).toBe(true);
  });
});
