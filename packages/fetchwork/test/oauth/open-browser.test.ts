import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openBrowser, openerOf } from "../../src/oauth/open-browser.ts";

const screen = { DISPLAY: ":0" };

describe("openBrowser()", () => {
  it.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "calc.exe:x"])(
    "is not asked to open %s",
    (url) => {
      for (const platform of ["linux", "darwin", "win32"] as const) {
        expect(() => openerOf(url, { platform, env: screen })).toThrow(TypeError);
      }
    },
  );

  it.each([
    ["linux", "xdg-open", 1],
    ["darwin", "open", 1],
    ["win32", "rundll32.exe", 2],
  ] as const)("is on %s the program %s", (platform, program, count) => {
    const opener = openerOf("https://id.example/?a=1&b=2", { platform, env: screen });
    expect(opener?.program).toBe(program);
    expect(opener?.args).toHaveLength(count);
    expect(opener?.args.at(-1)).toBe("https://id.example/?a=1&b=2");
  });

  it("returns undefined on a machine without a screen", async () => {
    const url = "https://id.example/";
    expect(openerOf(url, { platform: "linux", env: {} })).toBeUndefined();
    expect(openerOf(url, { platform: "linux", env: { BROWSER: "w3m" } })).toBeDefined();
    expect(openerOf(url, { platform: "linux", env: { WAYLAND_DISPLAY: "w" } })).toBeDefined();
    expect(await openBrowser(url, { env: {} })).toBe(false);
  });

  it("reports no error when the opener is not installed", async () => {
    const env = { ...screen, PATH: import.meta.dirname };
    expect(await openBrowser("https://id.example/", { env })).toBe(false);
  });

  it("passes the URL as one argument, whatever it contains", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (path, query) => {
        const url = new URL("https://id.example/");
        url.pathname = path;
        url.search = query;
        const opener = openerOf(url.href, { platform: "linux", env: screen });
        expect(opener?.args).toHaveLength(1);
        expect(opener?.args[0]).toMatch(/^https:\/\/id\.example\/[!#-~]*$/);
      }),
    );
  });
});
