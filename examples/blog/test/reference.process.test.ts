import { existsSync } from "node:fs";
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { openBlog } from "./open-blog.ts";
import { masterKey } from "./api-client.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** Milliseconds that a page may take on a machine that is busy. */
const patience = 40_000;
const isMissing = !existsSync(executablePath);

it("this machine has Chromium for the test of the reference page", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

/** Serves the blog, and starts a browser, until the test ends. */
async function open(): Promise<{ readonly browser: Browser; readonly url: string }> {
  const store = await openStore("sqlite::memory:");
  const { handler } = openBlog(store);
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

it.skipIf(isMissing)(
  "the reference page shows all operations and loads nothing from another host",
  async () => {
    const { browser, url } = await open();
    const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    page.setDefaultTimeout(patience);
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
  },
);

it.skipIf(isMissing)("the reference page is dark for a reader whose system is dark", async () => {
  const { browser, url } = await open();
  const background = async (colorScheme: "dark" | "light"): Promise<string> => {
    const page = await browser.newPage({ colorScheme });
    page.setDefaultTimeout(patience);
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

const email = "ann@example.com";
const password = "correct horse";

/** Opens the page for a user of whom the password is known. */
async function openPage(width: number): Promise<{ readonly page: Page; readonly url: string }> {
  const { browser, url } = await open();
  const created = await fetch(new URL("users", url), {
    method: "POST",
    body: new URLSearchParams({ email, password, access_token: masterKey }),
  });
  expect(created.status).toBe(201);
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  page.setDefaultTimeout(patience);
  await page.goto(new URL("docs", url).href);
  await page.locator("#operations-articles-createArticle").waitFor();
  return { page, url };
}

async function signIn(page: Page, given = password): Promise<void> {
  await page.getByRole("textbox", { name: "Email" }).fill(email);
  await page.locator("#account").getByLabel("Password").fill(given);
  await page.getByLabel("Master key").fill(masterKey);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Opens an operation for trying it out. */
async function tryOut(page: Page, operation: string): Promise<Locator> {
  const block = page.locator(`#operations-articles-${operation}`);
  await block.locator(".opblock-summary-control").click();
  await block.locator(".try-out__btn").click();
  return block;
}

interface Executed {
  readonly status: number;
  readonly id: string | undefined;
  readonly sent: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  };
}

/** Presses Execute, and looks at what went over the wire. */
async function execute(page: Page, block: Locator): Promise<Executed> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.request().resourceType() === "fetch"),
    block.locator(".execute").click(),
  ]);
  const status = response.status();
  const text = status === 204 ? "{}" : await response.text();
  const request = response.request();
  await block
    .locator(".live-responses-table .response-col_status", { hasText: `${status}` })
    .waitFor();
  return {
    status,
    id: (JSON.parse(text) as { id?: string }).id,
    sent: { headers: await request.allHeaders(), body: request.postData() },
  };
}

it.skipIf(isMissing)(
  "the reference page does what its buttons say, from sign-in to sign-out",
  async () => {
    const { page } = await openPage(1280);
    await signIn(page);
    await page.getByText(`Signed in as ${email}`).waitFor();
    const stored = await page.evaluate("localStorage.length + sessionStorage.length");

    const create = await tryOut(page, "createArticle");
    const sample = JSON.parse(await create.locator(".body-param__text").inputValue()) as object;
    await create.locator(".body-param__text").fill('{"title":"Hello","content":"World"}');
    const first = await execute(page, create);
    const second = await execute(page, create);
    const update = await tryOut(page, "updateArticle");
    await update.locator('[data-param-name="id"] input').fill(first.id ?? "");
    await update.locator(".body-param__text").fill('{"title":"Changed"}');
    const changed = await execute(page, update);
    const remove = await tryOut(page, "removeArticle");
    await remove.locator('[data-param-name="id"] input').fill(first.id ?? "");
    const removed = await execute(page, remove);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("textbox", { name: "Email" }).waitFor();
    const refused = await execute(page, create);

    expect(stored).toBe(0);
    expect(sample).toEqual({ title: "string" });
    expect([first, second, changed, removed, refused].map(({ status }) => status)).toEqual([
      201, 201, 200, 204, 401,
    ]);
    expect(second.id).not.toBe(first.id);
    expect(first.sent.headers).not.toHaveProperty("idempotency-key");
    expect(removed.sent.body).toBeNull();
    expect(refused.sent.headers).not.toHaveProperty("authorization");
  },
);

it.skipIf(isMissing)(
  "the reference page says why a sign-in failed, and that a session has ended",
  async () => {
    const { page, url } = await openPage(1280);
    await signIn(page, "wrong password");
    await page.getByRole("alert").getByText("Wrong email or password.").waitFor();
    await signIn(page);
    await page.getByText(`Signed in as ${email}`).waitFor();

    const create = await tryOut(page, "createArticle");
    await create.locator(".body-param__text").fill('{"title":"Hello","content":"World"}');
    const { sent } = await execute(page, create);
    const { authorization = "" } = sent.headers;
    await fetch(new URL("auth", url), { method: "DELETE", headers: { authorization } });
    const refused = await execute(page, create);
    expect(refused.status).toBe(401);
    await page.getByRole("alert").getByText("Your session has ended.").waitFor();
    expect(await page.getByRole("textbox", { name: "Email" }).isVisible()).toBe(true);
  },
);

it.skipIf(isMissing)("the reference page sends only parameters that the reader chose", async () => {
  const { page } = await openPage(1280);
  const list = await tryOut(page, "listArticles");
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.resourceType() === "fetch"),
    list.locator(".execute").click(),
  ]);
  expect(new URL(request.url()).search).toBe("");
});

it.skipIf(isMissing)(
  "the reference page fits a width of 375 px, with an operation or the dialog open",
  async () => {
    const { page } = await openPage(375);
    const width = (): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");
    const widths = [await width()];
    for (const operation of ["listArticles", "createArticle", "removeArticle"]) {
      const block = await tryOut(page, operation);
      await block.locator(".execute").waitFor();
      widths.push(await width());
    }
    await page.locator(".btn.authorize").click();
    await page.locator(".modal-ux").waitFor();
    const dialog = page.locator(".modal-ux-content");
    expect([...widths, await width()].filter((one) => Number(one) > 375)).toEqual([]);
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(
      0,
    );
    expect(await dialog.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    const first = dialog.locator("input").first();
    expect(await first.evaluate((input) => input.matches(":focus"))).toBe(true);
  },
);
