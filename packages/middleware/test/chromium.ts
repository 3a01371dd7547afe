import { existsSync } from "node:fs";
import { serve, type RunningServer } from "@fetchwork/http/serve";
import type { Handler } from "@fetchwork/http";
import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

export const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
export const isMissing = !existsSync(executablePath);

/** Opens a page in a browser that ends with the test. */
export async function openPage(): Promise<Page> {
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  return page;
}

/** Serves a handler until the test ends. Two of them are two origins: their ports differ. */
export async function open(handler: Handler): Promise<RunningServer> {
  const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  return server;
}
