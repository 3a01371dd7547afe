import { existsSync } from "node:fs";
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { chromium, type Browser } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createApp } from "../src/app.ts";
import { jwtSecret, masterKey } from "./api-client.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const isMissing = !existsSync(executablePath);

it("finds Chromium for the test of the reference page", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

/** Serves the blog, and starts a browser, until the test ends. */
async function open(): Promise<{ readonly browser: Browser; readonly url: string }> {
  const store = await openStore("sqlite::memory:");
  const { handler } = createApp({ masterKey, jwtSecret, tokenLifetime: 60 }, store);
  const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  onTestFinished(async () => {
    await browser.close();
    await server.close();
    await store.close();
  });
  return { browser, url: server.url };
}

it.skipIf(isMissing)("shows all operations and loads nothing from another host", async () => {
  const { browser, url } = await open();
  const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  page.setDefaultTimeout(10_000);
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));

  await page.goto(new URL("docs", url).href);
  await page.locator("#operations-articles-createArticle").waitFor();
  const operations = await page.locator(".opblock").count();
  const list = page.locator("#operations-articles-listArticles");
  await list.locator(".opblock-summary-control").click();
  await list.locator(".try-out__btn").click();
  await list.locator(".execute").click();
  const answer = await list.locator(".live-responses-table").first().textContent();
  const screenshot = process.env["SCREENSHOT"];
  if (screenshot !== undefined) await page.screenshot({ path: screenshot });

  const described = (await (await fetch(new URL("openapi.json", url))).json()) as {
    paths: Readonly<Record<string, object>>;
  };
  const methods = Object.values(described.paths).flatMap((path) => Object.keys(path));
  expect(operations).toBe(methods.length);
  expect(answer).toContain("x-total-count: 0");
  expect(complaints).toEqual([]);
  const origins = new Set(
    requested.filter((each) => !each.startsWith("data:")).map((each) => new URL(each).origin),
  );
  expect([...origins]).toEqual([new URL(url).origin]);
});

it.skipIf(isMissing)("is dark for a reader whose system is dark", async () => {
  const { browser, url } = await open();
  const background = async (colorScheme: "dark" | "light"): Promise<string> => {
    const page = await browser.newPage({ colorScheme });
    page.setDefaultTimeout(10_000);
    await page.goto(new URL("docs", url).href);
    await page.locator("#operations-articles-createArticle").waitFor();
    const screenshot = process.env["SCREENSHOT"];
    if (screenshot !== undefined) {
      await page.screenshot({ path: screenshot.replace(/(?=\.\w+$)/, `-${colorScheme}`) });
    }
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  };
  expect(await background("dark")).toBe("rgb(28, 32, 34)");
  expect(await background("light")).not.toBe("rgb(28, 32, 34)");
});
