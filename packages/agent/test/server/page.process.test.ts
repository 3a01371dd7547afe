import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { isMissing, openPage } from "../../../middleware/test/chromium.ts";
import { sampleProjects } from "../sample-projects.ts";
import { editScript } from "../edit-script.ts";
import { projectScript } from "../project-script.ts";
import { startModelServer } from "../model-server.ts";
import { serveWith, startTasks, type TaskWorld } from "./task-world.ts";

const game = sampleProjects().get("canvas-game") ?? new Map<string, string>();
const [edited = ""] = [...game.keys()].filter((path) => path.endsWith(".css"));
const content = `${game.get(edited) ?? ""}\n/* a new colour */\n`;
const edit = editScript([{ path: edited, content }]);
const pictures = process.env["PICTURES"];
/** A browser on a busy machine. */
const slow = { timeout: 90_000 };

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

/**
 * Opens the page and fails the test for every error of a script and everything that the policy
 * refused.
 */
async function open({
  url,
}: TaskWorld): Promise<{ readonly page: Page; readonly errors: string[] }> {
  const page = await openPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("request", (asked) => {
    if (!asked.url().startsWith(url) && !/^(?:data|blob):/.test(asked.url())) {
      errors.push(`asked ${asked.url()}`);
    }
  });
  page.setDefaultTimeout(30_000);
  await page.setViewportSize({ width: 1_360, height: 900 });
  await page.goto(url);
  return { page, errors };
}

/**
 * Notes at the root how many logs with a text the page has shown, however short a time; two are
 * enough.
 */
async function countLogs(page: Page): Promise<void> {
  await page.evaluate(() => {
    const logs = new Set<Node>();
    const observer = new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        const isLog = target instanceof Element && target.classList.contains("log");
        if (isLog && addedNodes.length > 0) logs.add(target);
      }
      document.documentElement.dataset["logs"] = String(Math.min(logs.size, 2));
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}

describe.skipIf(isMissing && process.env["CI"] !== "true")("the page, in Chromium", slow, () => {
  it("creates a task, shows its log while it runs, and its files with colours", async () => {
    const model = await startModelServer({
      answers: projectScript(game),
      chunk: 3,
      byteWise: true,
      delay: 100,
    });
    onTestFinished(() => model.close());
    const world = await serveWith(model, { concurrency: 2 });
    const { page, errors } = await open(world);
    await countLogs(page);
    await page.getByLabel("What is to be programmed?").fill("A canvas game with a ball");
    await picture(page, "new-task");
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator('html[data-logs="2"]').waitFor();
    await picture(page, "running");
    await page.locator('.top .state[data-state="completed"]').waitFor();
    expect(await page.locator(".steps li").count()).toBe(game.size + 3);
    const [script = ""] = [...game.keys()].filter((path) => path.endsWith(".js"));
    await page.getByRole("link", { name: script }).click();
    await page.locator(".code .keyword").first().waitFor();
    const shown = await page.locator(".code > span").allTextContents();
    expect(`${shown.join("\n")}\n`).toBe(game.get(script));
    await picture(page, "file");
    expect(errors).toEqual([]);
  });

  it("shows what a change did as a diff", async () => {
    const world = await startTasks({}, [...projectScript(game), ...edit]);
    const { task_id: id } = await world.create("A canvas game");
    await world.finish(id);
    const { page, errors } = await open(world);
    await page.locator("#tasks a").first().click();
    await page.getByLabel("What is to be changed?").fill("Another colour");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByRole("link", { name: edited }).filter({ hasText: "changed" }).click();
    await page.locator(".code .new").first().waitFor();
    expect(await page.locator(".code .new").allTextContents()).toEqual([
      "added: ",
      "added: /* a new colour */",
    ]);
    expect(await page.locator(".code .old").count()).toBe(0);
    await picture(page, "diff");
    await page.getByLabel("What to show").selectOption("1 file");
    await page.locator(".code .new").first().waitFor({ state: "detached" });
    expect(errors).toEqual([]);
  });

  it("takes other words for a change of which nothing came", async () => {
    const lost = { path: "nowhere.css", search: "x", replace: "y" };
    const world = await startTasks({}, [
      ...projectScript(game),
      ...editScript([lost], ["An impossible one"]),
      ...editScript([{ path: edited, content }], ["A new colour"]),
    ]);
    const { task_id: id } = await world.create();
    await world.finish(id);
    const { page } = await open(world);
    // The change arrives long after the page has looked for it first.
    await page.route("**/steps", async (route) => {
      if (route.request().method() === "POST") await sleep(1_500);
      await route.continue();
    });
    await page.locator("#tasks a").first().click();
    const words = page.getByLabel("What is to be changed?");
    await words.fill("An impossible one");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.locator(".failure").waitFor();
    expect(await words.inputValue()).toBe("An impossible one");
    await picture(page, "failed-change");
    await words.fill("A new colour");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByRole("link", { name: edited }).filter({ hasText: "changed" }).waitFor();
    await page.locator('.top .state[data-state="completed"]').waitFor();
  });

  it("shows what failed, and runs it again", async () => {
    const fault = { kind: "status", status: 500 } as const;
    const first = [{ match: ["# Plan\n"], tool: null, times: 1, fault }];
    const world = await startTasks({ retry: { attempts: 1 } }, projectScript(game, { first }));
    await world.create("A game", { run: true });
    const { page, errors } = await open(world);
    await page.locator("#tasks a").first().click();
    await page.locator(".failure").waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "failed-dark");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator('.top .state[data-state="completed"]').waitFor();
    await picture(page, "completed-dark");
    expect(errors).toEqual([]);
  });

  it("is used with the keyboard alone", async () => {
    const world = await startTasks({}, projectScript(game));
    const { page, errors } = await open(world);
    // The cursor is where the text goes.
    await page.getByLabel("What is to be programmed?").waitFor();
    await page.keyboard.type("A game by keyboard");
    await page.keyboard.press("Control+Enter");
    await page.locator('.top .state[data-state="completed"]').waitFor();
    const focusable: (string | null)[] = [];
    for (let press = 0; press < 30; press += 1) {
      await page.keyboard.press("Tab");
      focusable.push(await page.evaluate(() => document.activeElement?.textContent ?? null));
    }
    for (const name of ["Skip to the task", "New task", "Download all", "Delete"]) {
      expect(focusable).toContain(name);
    }
    expect(focusable.some((text) => text?.startsWith(edited))).toBe(true);
    expect(errors).toEqual([]);
  });

  it("asks for the token, and keeps it for the tab", async () => {
    const token = "a-token-of-some-length";
    const world = await startTasks({ token }, projectScript(game));
    const { page } = await open(world);
    await page.getByLabel("Token").fill("wrong-token-of-length");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The token is wrong.").waitFor();
    await picture(page, "sign-in");
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("What is to be programmed?").waitFor();
    await page.reload();
    await page.getByLabel("What is to be programmed?").waitFor();
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  });

  it("shows hostile texts as texts", async () => {
    const hostile = '<img src=x onerror="document.title=1">';
    const files = new Map([["evil.html", `${hostile}<script>document.title=2</script>\n`]]);
    const world = await startTasks({}, projectScript(files, { sharedDeps: hostile }));
    const { task_id: id } = await world.create(`${hostile}\nA game`);
    await world.finish(id);
    const { page, errors } = await open(world);
    await page.locator("#tasks a").first().click();
    await page.locator(".code > span").first().waitFor();
    expect(await page.locator("main img, nav img").count()).toBe(0);
    expect(await page.title()).toContain("<img");
    expect(errors).toEqual([]);
  });

  it("fits a telephone", async () => {
    const world = await startTasks({}, projectScript(game));
    const { task_id: id } = await world.create("A game");
    await world.finish(id);
    const { page } = await open(world);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.locator("#tasks a").first().click();
    await page.locator(".code > span").first().waitFor();
    await picture(page, "narrow");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await page.locator(".files a").first().click();
    await page.locator('.files a[aria-current="true"]').waitFor({ state: "attached" });
    await page.waitForFunction(() => {
      const top = document.querySelector(".code")?.getBoundingClientRect().top ?? Infinity;
      return top < innerHeight;
    });
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "narrow-file-dark");
  });

  it("counts steps of a large task that it does not show", async () => {
    const onTask = () => Array.from({ length: 1_005 }, (_, at) => ({ name: `step ${at}` }));
    const world = await startTasks({ agent: { onTask, onStep: async () => ({}) } });
    const { task_id: id } = await world.create("A large program");
    await world.step(id);
    const { page, errors } = await open(world);
    await page.locator("#tasks a").first().click();
    await page.getByText("1 of 1005", { exact: true }).waitFor();
    await page.getByText("and 5 more", { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });
});
