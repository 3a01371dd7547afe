import { signRequest } from "@fetchwork/webhooks";
import { describe, expect, it } from "vitest";
import { isMissing, openPage } from "../../../middleware/test/chromium.ts";
import { startListening } from "./listening.ts";
import { secretFile } from "./secret-file.ts";

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
/** A browser on a busy machine. */
const slow = { timeout: 60_000 };

describe.skipIf(isMissing && process.env["CI"] !== "true")(
  "The page of listen in Chromium",
  slow,
  () => {
    it.each([375, 1_280])(
      "shows deliveries as they come, and replays one: %d px",
      async (width) => {
        const { url, page: link, arrived, stop } = await startListening(...secretFile("secret"));
        const page = await openPage();
        const errors: string[] = [];
        page.on("pageerror", (error) => errors.push(String(error)));
        page.on("console", (message) => {
          if (message.type() === "error") errors.push(message.text());
        });
        page.on("request", (request) => {
          const isOwn = request.url().startsWith(new URL(url).origin);
          if (!isOwn && !request.url().startsWith("data:")) errors.push(request.url());
        });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(link);
        await page.getByText("Forwarded to http://127.0.0.1:").waitFor();

        const payload = { action: hostile, long: "long".repeat(100) };
        const signed = await signRequest({ secret: "secret", name: "issues", payload });
        const headers = new Headers(signed.headers);
        const body = await signed.text();
        headers.set("x-note", hostile);
        await fetch(url, { method: "POST", headers, body });
        headers.set("x-vendor-event", "push");
        await fetch(url, { method: "POST", headers, body: `${body} ` });

        const rows = page.locator("#deliveries > li");
        await expect.poll(() => rows.count()).toBe(2);
        const [refused, accepted] = [rows.nth(0), rows.nth(1)];
        await refused.getByText("wrong signature").waitFor();
        await refused.getByText("signature does not match").waitFor();
        expect(await refused.getByRole("button", { name: "Replay" }).count()).toBe(0);
        await accepted.getByText("verified").waitFor();
        await accepted.locator("summary").focus();
        await page.keyboard.press("Enter");
        await accepted.getByLabel("Headers").getByText(hostile).waitFor();
        await accepted.getByLabel("Payload").getByText("<script>").waitFor();
        await accepted.getByRole("button", { name: "Replay" }).press("Enter");
        await accepted.getByText(/^200 in \d+ ms/).waitFor();
        expect(arrived).toEqual([body, body]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(
          false,
        );
        expect([await page.title(), await page.locator("img").count(), errors]).toEqual([
          "Deliveries",
          0,
          [],
        ]);

        await stop();
        await page.getByRole("alert").getByText("does not respond").waitFor();
      },
    );

    it("shows nothing without the link that was printed", async () => {
      const { url } = await startListening();
      await fetch(url, { method: "POST", body: "canary" });
      const page = await openPage();
      await page.goto(new URL("/", url).href);
      await page.getByRole("alert").getByText("Open the link").waitFor();
      expect(await page.locator("body").textContent()).not.toContain("canary");
    });
  },
);
