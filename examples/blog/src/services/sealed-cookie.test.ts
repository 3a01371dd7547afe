import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSealedCookie, type SealedCookieOptions } from "./sealed-cookie.ts";

const options: SealedCookieOptions = {
  name: "a",
  path: "/b",
  isSecure: true,
  lifetime: 600,
  secret: "s".repeat(32),
};

function carrying(setCookie: string): Request {
  const cookie = `x=1; ${setCookie.split(";")[0]}; y=2`;
  return new Request("https://api.example/b", { headers: { cookie } });
}

describe("a sealed cookie", () => {
  it("brings back what was sealed, and shows nothing of it", async () => {
    const cookie = createSealedCookie(options);
    const sealed = await cookie.seal("the text é");
    expect(await cookie.open(carrying(sealed))).toBe("the text é");
    expect(Buffer.from(sealed.split(".")[1] ?? "", "base64url").toString()).not.toContain("text");
    expect(await cookie.seal("the text é")).not.toBe(sealed);
  });

  it("goes by HTTPS only where there is HTTPS", async () => {
    const sealed = await createSealedCookie(options).seal("text");
    expect(sealed).toMatch(
      /^__Host-a=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    expect(createSealedCookie(options).removal).toMatch(/^__Host-a=; Path=\/; .*; Max-Age=0$/);
  });

  it.each([
    ["another name", { name: "c" }],
    ["another path", { path: "/c" }],
    ["another secret", { secret: "t".repeat(32) }],
  ])("does not open that of %s", async (_what, changed) => {
    const cookie = createSealedCookie(options);
    const foreign = createSealedCookie({ ...options, ...changed });
    const sealed = (await foreign.seal("text")).replace("__Host-c=", "__Host-a=");
    expect(await foreign.open(carrying(await foreign.seal("text")))).toBe("text");
    expect(await cookie.open(carrying(sealed))).toBeUndefined();
  });

  it.each(["", ".", "9999999999.", "9999999999.AAAA", "x.AAAA", "-1.AAAA"])(
    "does not open %j",
    async (value) => {
      const cookie = createSealedCookie(options);
      expect(await cookie.open(carrying(`__Host-a=${value}`))).toBeUndefined();
    },
  );

  it("ends with its time, which nobody can prolong", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const cookie = createSealedCookie(options);
    const sealed = await cookie.seal("text");
    vi.advanceTimersByTime(599_000);
    expect(await cookie.open(carrying(sealed))).toBe("text");
    vi.advanceTimersByTime(2_000);
    expect(await cookie.open(carrying(sealed))).toBeUndefined();
    expect(await cookie.open(carrying(sealed.replace(/=\d+/, "=9999999999")))).toBeUndefined();
  });
});
