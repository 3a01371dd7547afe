import { createContext, text, wrap } from "@fetchwork/http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { appInfo } from "../../src/observe/app-info.ts";

afterEach(() => vi.unstubAllEnvs());

const info = { name: "app-name", version: "12345", org: "Umputun" };
const request = (): Request => new Request("http://localhost/");

describe("appInfo", () => {
  it.each([
    ["an empty name", { ...info, name: "" }],
    ["an empty version", { ...info, version: "" }],
    ["a line break", { ...info, org: "a\r\nSet-Cookie: b=c" }],
    ["a character above U+00FF", { ...info, name: "\u{1f600}" }],
  ])("refuses %s at once", (_, options) => {
    expect(() => appInfo(options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each([
    // Research A1. Decision 2A.2 sends Org and M-Host, not Author and Host.
    ["MHOST is set", "host1", info, { org: "Umputun", "m-host": "host1" }],
    ["MHOST is empty", "", info, { org: "Umputun", "m-host": null }],
    ["there is no organisation", "", { name: "app-name", version: "12345" }, { org: null }],
    ["the host is given", "host1", { ...info, host: "mine" }, { "m-host": "mine" }],
    ["the host is switched off", "host1", { ...info, host: false as const }, { "m-host": null }],
  ])("sends its headers when %s", async (_, host, options, headers) => {
    vi.stubEnv("MHOST", host);
    const response = await wrap(() => text("x"), appInfo(options))(request());
    const expected = { "app-name": "app-name", "app-version": "12345", author: null, ...headers };
    for (const [name, value] of Object.entries(expected)) {
      expect(response.headers.get(name)).toBe(value);
    }
  });

  it("keeps what the handler set, also an asynchronous one", async () => {
    const handler = async (): Promise<Response> => text("x", { headers: { org: "mine" } });
    const response = await wrap(handler, appInfo(info))(request());
    expect(response.headers.get("org")).toBe("mine");
    expect(response.headers.get("app-name")).toBe("app-name");
  });

  it("responds without a promise when the handler does", () => {
    const handler = appInfo(info)(() => text("x"));
    expect(handler(request(), createContext(request()))).toBeInstanceOf(Response);
  });
});
