import { existsSync } from "node:fs";
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createApp } from "../src/app.ts";
import { jwtSecret, masterKey } from "./api-client.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const isMissing = !existsSync(executablePath);

it("finds Chromium for the test of the reference page", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

it.skipIf(isMissing)("shows all operations and loads nothing from another host", async () => {
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
  const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  page.setDefaultTimeout(10_000);
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));

  await page.goto(new URL("docs", server.url).href);
  await page.locator("#operations-articles-createArticle").waitFor();
  const operations = await page.locator(".opblock").count();
  const list = page.locator("#operations-articles-listArticles");
  await list.locator(".opblock-summary-control").click();
  await list.locator(".try-out__btn").click();
  await list.locator(".execute").click();
  const answer = await list.locator(".live-responses-table").first().textContent();
  const screenshot = process.env["SCREENSHOT"];
  if (screenshot !== undefined) await page.screenshot({ path: screenshot });

  const described = (await (await fetch(new URL("openapi.json", server.url))).json()) as {
    paths: Readonly<Record<string, object>>;
  };
  const methods = Object.values(described.paths).flatMap((path) => Object.keys(path));
  expect(operations).toBe(methods.length);
  expect(answer).toContain("x-total-count: 0");
  expect(complaints).toEqual([]);
  const origins = new Set(
    requested.filter((url) => !url.startsWith("data:")).map((url) => new URL(url).origin),
  );
  expect([...origins]).toEqual([new URL(server.url).origin]);
});
