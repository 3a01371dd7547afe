import { serve } from "@fetchwork/http/serve";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { isMissing, openPage } from "../../../../middleware/test/chromium.ts";
import { hostile, openPortal, type PortalWorld } from "./open-portal.ts";

/** A browser on a busy machine. */
const slow = { timeout: 60_000 };

/**
 * Opens the page as a tenant, and keeps every error, refusal of the policy and request to
 * elsewhere.
 */
async function open(
  { url }: PortalWorld,
  { width, tenant = "a" }: { readonly width: number; readonly tenant?: string | undefined },
): Promise<{ readonly page: Page; readonly errors: string[] }> {
  const page = await openPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("request", (asked) => {
    if (!asked.url().startsWith("data:") && !asked.url().startsWith(url)) errors.push(asked.url());
  });
  await page.setViewportSize({ width, height: 800 });
  await page.context().addCookies([{ name: "tenant", value: tenant, url }]);
  await page.goto(url);
  return { page, errors };
}

/** Moves the focus with the Tab key to what has a text or label, and presses a key there. */
async function press(page: Page, name: string, key = "Enter"): Promise<void> {
  for (let turn = 0; turn < 80; turn += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element instanceof HTMLInputElement ? element.labels?.[0] : undefined;
      const area = element?.closest("label");
      return (label ?? area ?? element)?.textContent ?? "";
    });
    if (!focused.startsWith(name)) continue;
    if (key.length > 0) await page.keyboard.press(key);
    return;
  }
  throw new Error(`the Tab key does not reach ${name}`);
}

async function isWiderThanItsWindow(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}

describe.skipIf(isMissing && process.env["CI"] !== "true")("The portal in Chromium", slow, () => {
  it.each([375, 1_280])(
    "adds, tests and removes an endpoint by keyboard at %d px",
    async (width) => {
      const world = await openPortal();
      const { page, errors } = await open(world, { width });
      await page.getByText("There are no endpoints yet").waitFor();
      await press(page, "Add endpoint");
      await page.getByRole("heading", { name: "Add an endpoint" }).waitFor();
      await press(page, "URL", "");
      await page.keyboard.type(`${world.target}/bad?${"long".repeat(60)}`);
      await press(page, "Description", "");
      await page.keyboard.type(hostile);
      await press(page, "All events", "Space");
      await press(page, "order.paid", "Space");
      await press(page, "Headers", "");
      await page.keyboard.type("authorization: Bearer of-the-endpoint");
      await press(page, "Add");

      await expect
        .poll(() => page.getByRole("textbox", { name: /^Secret/ }).inputValue())
        .toMatch(/^whsec_/);
      expect(page.url()).not.toContain("whsec_");
      expect(await isWiderThanItsWindow(page)).toBe(false);
      await press(page, "Done");
      await press(page, "Send a test event");
      await page.locator('.deliveries .state[data-state="dead"]').waitFor();
      await page.locator(".deliveries summary").focus();
      await page.keyboard.press("Enter");
      await page.locator(".attempts pre").getByText(hostile).waitFor();
      expect(await isWiderThanItsWindow(page)).toBe(false);
      await press(page, "Replay");
      await expect.poll(() => world.arrived.length).toBe(2);

      await page.locator(".home").focus();
      await page.keyboard.press("Enter");
      await page.locator(".endpoints").getByText(hostile).waitFor();
      expect(await isWiderThanItsWindow(page)).toBe(false);
      expect(await page.locator("main").textContent()).not.toContain("whsec_");
      await page.locator(".endpoints a").focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
      await press(page, "Remove");
      await page.keyboard.press("Enter");
      await page.getByText("There are no endpoints yet").waitFor();
      // Nothing asks any more for the deliveries of what was removed.
      await page.waitForTimeout(600);
      expect([await page.title(), await page.locator("img").count(), errors]).toEqual([
        "Webhooks",
        0,
        [],
      ]);
    },
  );

  it("changes, disables and rotates, and says what is refused", async () => {
    const world = await openPortal();
    const { id } = await world.sender.endpoints.create({
      url: `${world.target}/x`,
      tenant: "a",
      headers: { "x-key": "1" },
    });
    const { page, errors } = await open(world, { width: 1_280 });
    await page.getByRole("link", { name: `${world.target}/x` }).click();
    await page.getByRole("button", { name: "Disable" }).press("Enter");
    await page.getByText("Disabled by hand.").waitFor();
    await page.getByRole("button", { name: "Enable" }).press("Enter");
    await page.getByRole("button", { name: "Disable" }).waitFor();
    await page.getByLabel("The old one signs too").selectOption("no longer");
    await page.getByRole("button", { name: "Rotate the secret" }).press("Enter");
    await page.getByRole("textbox", { name: /^Secret/ }).waitFor();
    expect(await page.locator(".secret input").inputValue()).toMatch(/^whsec_/);
    await page.reload();
    await page.getByRole("heading", { name: "Secret" }).waitFor();
    expect(await page.locator(".secret input").count()).toBe(0);

    await page.getByLabel("Description").fill("mine");
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByText("Saved.").waitFor();
    expect(await world.sender.endpoints.get(id)).toMatchObject({
      description: "mine",
      headerNames: ["x-key"],
    });
    expect(errors).toEqual([]);
    await page.getByLabel("URL").fill("ftp://a.example/");
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByRole("alert").getByText("invalid target URL: expected http or https").waitFor();
  });

  it("shows nothing of another tenant, whatever its address is", async () => {
    const world = await openPortal();
    const { id } = await world.sender.endpoints.create({ url: `${world.target}/x`, tenant: "b" });
    const { page } = await open(world, { width: 375 });
    await page.getByText("There are no endpoints yet").waitFor();
    await page.goto(`${world.url}#/endpoints/${id}`);
    await page.getByRole("alert").getByText("there is no such resource").waitFor();
    expect(await page.locator("body").textContent()).not.toContain("/x");
  });

  it("is embedded by its origins alone, and takes a token of them alone", async () => {
    const page = await openPage();
    let portal = "";
    const host = await serve(
      () =>
        new Response(
          `<!doctype html><title>host</title><iframe src="${portal}"></iframe>
<script>
addEventListener("message", ({ data, origin, source }) => {
  if (data.type === "webhook-portal:unauthorized" && origin === new URL("${portal}").origin)
    source.postMessage({ type: "webhook-portal:token", token: "a" }, origin);
});
</script>`,
          { headers: { "content-type": "text/html" } },
        ),
      { port: 0, hostname: "127.0.0.1", signals: false },
    );
    onTestFinished(() => host.close({ gracePeriod: 0 }));
    const { origin } = new URL(host.url);
    const world = await openPortal({ frameAncestors: [origin] });
    await world.sender.endpoints.create({ url: `${world.target}/of-a`, tenant: "a" });
    portal = world.url;
    await page.goto(host.url);
    await page.frameLocator("iframe").getByText("/of-a").waitFor();
    const closed = await openPortal();
    portal = closed.url;
    await page.goto(host.url);
    await expect
      .poll(() => page.frames().some((frame) => frame.url().startsWith("chrome-error:")))
      .toBe(true);
    // Of another origin than the one that may embed it.
    portal = world.url;
    await page.goto(host.url.replace("127.0.0.1", "localhost"));
    await expect
      .poll(() => page.frames().some((frame) => frame.url().startsWith("chrome-error:")))
      .toBe(true);
  });
});
