import { text, wrap, type Handler } from "@fetchwork/http";
import { expect, it } from "vitest";
import { authorizedUser, basicAuthWithPrompt } from "../../src/access/basic-auth.ts";
import { crossOriginProtection } from "../../src/access/cross-origin-protection.ts";
import { executablePath, isMissing, open, openPage } from "../chromium.ts";

it("this machine has Chromium for the tests of access control", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

const page: Handler = () =>
  text("<!doctype html><title>page</title>", { headers: { "content-type": "text/html" } });

it.skipIf(isMissing)(
  "access control refuses what a page of another origin sends, by script and by form",
  async () => {
    const changes: string[] = [];
    const target = await open(
      wrap((request, context) => {
        if (request.method === "POST")
          changes.push(request.headers.get("sec-fetch-site") ?? "none");
        return page(request, context);
      }, crossOriginProtection()),
    );
    const evil = await open(page);
    const tab = await openPage();

    await tab.goto(evil.url);
    await tab.evaluate((url) => fetch(url, { method: "POST", mode: "no-cors" }), target.url);
    const [received] = await Promise.all([
      tab.waitForResponse((response) => response.request().isNavigationRequest()),
      tab.evaluate((url) => {
        const form = document.createElement("form");
        form.method = "post";
        form.action = url;
        document.documentElement.append(form);
        form.submit();
      }, target.url),
    ]);
    expect(received.status()).toBe(403);
    expect(await received.text()).toBe(
      "cross-origin request detected from Sec-Fetch-Site header\n",
    );
    expect(changes).toEqual([]);

    await tab.goto(target.url);
    const status = await tab.evaluate(async () => (await fetch("/", { method: "POST" })).status);
    expect([status, changes]).toEqual([200, ["same-origin"]]);
  },
);

it.skipIf(isMissing)("prompts for credentials in UTF-8, and again after wrong ones", async () => {
  const server = await open(
    wrap(
      (_, context) => text(`hello ${authorizedUser(context)}`),
      basicAuthWithPrompt("jörg", "pä:ß€"),
    ),
  );
  const browser = (await openPage()).context().browser();
  const visit = async (password?: string): Promise<string | undefined> => {
    const context = await browser?.newContext(
      password === undefined ? {} : { httpCredentials: { username: "jörg", password } },
    );
    const tab = await context?.newPage();
    try {
      return await (await tab?.goto(server.url))?.text();
    } catch (error) {
      // A browser without a window gives up where one with a window asks its user.
      if (String(error).includes("ERR_INVALID_AUTH_CREDENTIALS")) return "Unauthorized\n";
      throw error;
    }
  };
  expect(await visit("pä:ß€")).toBe("hello jörg");
  expect(await visit("wrong")).toBe("Unauthorized\n");
  expect(await visit()).toBe("Unauthorized\n");
});
