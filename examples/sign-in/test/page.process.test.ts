import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { createContext } from "@fetchwork/http";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished, vi } from "vitest";
import { executablePath, isMissing, openPage } from "../../../packages/middleware/test/chromium.ts";
import { startProvider } from "../../../packages/oauth2/test/provider-server.ts";
import { createApp } from "../src/app.ts";

it("this machine has Chromium for the test of the page", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

/**
 * Serves the page, and opens it in a browser that has an authenticator for passkeys, until the test
 * ends.
 */
async function open(width: number): Promise<{
  readonly page: Page;
  readonly url: string;
  /** Returns the link of the newest mail. */
  nextLink(): Promise<string>;
}> {
  const store = await openStore("sqlite::memory:");
  const links: string[] = [];
  let handle = (_request: Request): Promise<Response> | Response => new Response();
  const server = await serve((request) => handle(request), { port: 0, signals: false });
  const url = `http://localhost:${server.port}`;
  const clientSecret = "a secret of the client, of thirty-two bytes";
  const provider = await startProvider(() => ({
    pkce: { required: () => true },
    clients: [
      {
        client_id: "app",
        client_secret: clientSecret,
        redirect_uris: [`${url}/auth/company/callback`],
      },
    ],
  }));
  const { accounts, api } = createApp({
    store,
    origin: url,
    providers: [{ name: "company", issuer: provider.issuer, clientId: "app", clientSecret }],
    masterKey: "m".repeat(32),
    jwtSecret: "j".repeat(32),
    mailer: { send: async ({ text }) => void links.push(/http\S+/.exec(text)?.[0] ?? "") },
  });
  handle = (request) => api.handler(request, createContext(request));
  accounts.start();
  onTestFinished(async () => {
    await server.close({ gracePeriod: 0 });
    await provider.close();
    await accounts.stop();
    await store.close();
  });
  const page = await openPage();
  await page.setViewportSize({ width, height: 800 });
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    page,
    url,
    nextLink: () => vi.waitFor(() => links.pop() ?? Promise.reject(new Error("no mail yet"))),
  };
}

it.skipIf(isMissing).each([375, 1280])(
  "the page signs up, confirms, signs in by password, passkey and provider, and signs out, %s pixels wide",
  { timeout: 60_000 },
  async (width) => {
    const { page, url, nextLink } = await open(width);
    const press = (name: string): Promise<void> =>
      page.getByRole("button", { name, exact: true }).click();
    const says = (text: string | RegExp): Promise<void> =>
      page.getByRole("status").filter({ hasText: text }).waitFor();
    const enter = async (password: string): Promise<void> => {
      await page.getByLabel("Email").fill("ada@example.com");
      await page.getByLabel("Password").fill(password);
    };

    await page.goto(`${url}/page`);
    await enter("correct horse");
    await press("Sign up");
    await says("Look into your mailbox");
    await press("Sign in");
    await says(/password/i);

    await page.goto(await nextLink());
    await enter("another one");
    await press("Confirm the address");
    await says("wrong password");
    await enter("correct horse");
    await press("Confirm the address");
    await says("The address is confirmed");
    await press("Sign in");
    await page.getByText("password, here").waitFor();
    expect(await page.locator("#me").textContent()).toBe("ada@example.com");
    // Scripts of the page cannot read the session.
    expect(await page.evaluate("document.cookie")).toBe("");

    await press("Add a passkey");
    await says("The passkey is added");
    await press("Sign out");
    await page.getByLabel("Email").waitFor();
    await press("Sign in with a passkey");
    await page.getByText("passkey, here").waitFor();
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect(overflow).toBe(0);
    await press("End");
    await page.getByLabel("Email").waitFor();

    await page.getByRole("link", { name: "Sign in with company" }).click();
    await page.getByText("provider, here").waitFor();
    expect(await page.locator("#me").textContent()).toBe("ada@example.com");
    await press("Sign out");
    await page.getByLabel("Email").waitFor();
    await page.reload();
    await page.getByLabel("Email").waitFor();
  },
);
