import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { startSignInServer } from "./sign-in-server.ts";
import { openTerminal } from "./terminal.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const isMissing = !existsSync(executablePath);

it("this machine has Chromium for the test of the sign-in", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

it.skipIf(isMissing)(
  "oauth login signs in with Chromium, whose last page loads nothing",
  async () => {
    const server = await startSignInServer();
    const browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    onTestFinished(async () => {
      await browser.close();
      await server.close();
    });
    const terminal = await openTerminal();
    const running = terminal.start([
      "login",
      "--issuer",
      server.issuer,
      "--client-id",
      "cli",
      "--no-browser",
    ]);
    const [, url = ""] = await running.seen(/^ {2}(http\S+)$/m);
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(url);
    expect(await page.locator("p").textContent()).toBe("Signed in. You may close this window.");
    const { code, stdout } = await running.finished;
    expect([code, stdout]).toEqual([0, expect.stringContaining("user-1")]);
    expect(requested.at(-1)).toBe("/callback");
    expect(complaints).toEqual([]);
  },
  60_000,
);
