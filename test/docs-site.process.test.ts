import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { serve } from "@fetchwork/http/serve";
import { fileServer } from "@fetchwork/middleware/node";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite, isInstalled } from "../docs-site/build.ts";
import { built } from "../docs-site/llms.ts";
import { miniSearch } from "../docs-site/search-options.ts";
import { sitePages } from "../docs-site/site-pages.ts";
import { exportedNames } from "../scripts/exported-names.ts";
import { readPackages } from "../scripts/workspace-packages.ts";

const site = join(import.meta.dirname, "../docs-site");
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
/** A folder for pictures of the pages, for anyone who wants to look at them. */
const shots = process.env["SCREENSHOTS"];
const hasChromium = existsSync(executablePath);

it("this machine has the tools of the documentation site and Chromium", ({ skip }) => {
  skip(!isInstalled && !process.env["CI"], "`npm ci` was not run in docs-site/");
  skip(!hasChromium && !process.env["CI"], `${executablePath} is not installed`);
  expect([isInstalled, hasChromium]).toEqual([true, true]);
});

/** The names of the HTML files of the site, with slashes. */
function htmlFiles(): readonly string[] {
  return globSync("**/*.html", { cwd: built }).map((file) => file.replaceAll("\\", "/"));
}

/**
 * What a page of the reference says of each name: its prose, without headings, code, tables and
 * types.
 */
function descriptionsOf(page: string): ReadonlyMap<string, string> {
  const sections = page.split(/^### (?=(?:abstract )?\w)/m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = "", ...lines] = section.replaceAll(/^```[^]*?^```/gm, "").split("\n");
      const prose = lines
        .filter((line) => !/^[#|>*]/.test(line))
        .map((line) => line.replaceAll(/\[`[^\]]*\]\([^)]*\)|`[^`]*`/g, ""));
      return [/^(?:abstract )?(\w+)/.exec(heading)?.[1] ?? "", prose.join("\n")];
    }),
  );
}

describe.skipIf(!isInstalled)("the documentation site", () => {
  beforeAll(() => {
    buildSite();
  }, 600_000);

  it("has the HTML and the Markdown of every page", () => {
    const pages = sitePages().map(({ page }) => page);
    const files = pages.flatMap((page) => [page, page.replace(/\.md$/, ".html")]);
    expect(files.filter((file) => !existsSync(join(built, file)))).toEqual([]);
  });

  it("has every exported name on the page of its entry, with a description", () => {
    const pages = new Map(
      globSync("reference/**/*.md", { cwd: built }).map((file) => {
        const text = readFileSync(join(built, file), "utf8").replaceAll("\\_", "_");
        return [/^# (.+)$/m.exec(text)?.[1], descriptionsOf(text)];
      }),
    );
    const names = exportedNames(readPackages("packages")).filter(
      ({ entry }) => !entry.endsWith("/internal"),
    );
    const faults = names.flatMap(({ entry, name }) => {
      const description = pages.get(entry)?.get(name);
      if (description === undefined) return [`${entry} ${name} is missing`];
      return /\w/.test(description) ? [] : [`${entry} ${name} has no description`];
    });
    expect(names.length).toBeGreaterThan(1_000);
    expect(faults).toEqual([]);
  });

  it("has no link to a heading that is not there", () => {
    const ids = new Map(
      htmlFiles().map((file) => {
        const html = readFileSync(join(built, file), "utf8");
        return [`/${file}`, new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id))];
      }),
    );
    const broken = htmlFiles().flatMap((file) => {
      const html = readFileSync(join(built, file), "utf8");
      const main = html.slice(html.indexOf("<main"), html.indexOf("</main>"));
      return Array.from(main.matchAll(/<a [^>]*?href="([^"]*)"/g), ([, href = ""]) => href)
        .filter((href) => href.includes("#") && !/^[a-z]+:/.test(href))
        .filter((href) => {
          const { pathname, hash } = new URL(href, `http://site/${file}`);
          const target = decodeURI(pathname).replace(/\/$/, "/index.html");
          return ids.get(target)?.has(decodeURIComponent(hash.slice(1))) !== true;
        })
        .map((href) => `${file}: ${href}`);
    });
    expect(broken).toEqual([]);
  });

  it("has llms.txt, which lists the Markdown of every page of the side bar", () => {
    const text = readFileSync(join(built, "llms.txt"), "utf8");
    const links = Array.from(text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm), ([, link = ""]) => link);
    expect(text).toMatch(/^# Fetchwork\n\n> .+\n/);
    expect(links.filter((link) => !existsSync(join(built, link)))).toEqual([]);
    const listed = sitePages().filter(({ section }) => section !== undefined);
    expect(links).toEqual(expect.arrayContaining(listed.map(({ page }) => `/${page}`)));
    const full = readFileSync(join(built, "llms-full.txt"), "utf8");
    expect(full).toContain("# From nothing to a deployed API");
  });

  describe("the offline search", () => {
    /** Finds pages as the search box does. */
    let find: (query: string) => readonly string[] = () => [];

    beforeAll(async () => {
      const [index = expect.fail("no index")] = globSync(
        join(built, "assets/chunks/@localSearchIndexroot.*.js"),
      );
      const loader = join(
        site,
        "node_modules/vitepress/dist/client/theme-default/support/local-search.js",
      );
      const { default: json } = (await import(pathToFileURL(index).href)) as { default: string };
      const { loadLocalSearchIndex } = (await import(pathToFileURL(loader).href)) as {
        loadLocalSearchIndex: (
          json: string,
          options: typeof miniSearch,
        ) => { search: (query: string) => readonly { readonly id: string }[] };
      };
      const search = loadLocalSearchIndex(json, miniSearch);
      find = (query) => search.search(query).map(({ id }) => id.replace(/#.*/, ""));
    });

    it.each([
      ["follow pagination Link header", "/pages-of-an-api.html"],
      ["octokit throttling rate limit", "/pages-of-an-api.html"],
      ["refresh an access token", "/never-lose-a-refresh-token.html"],
      ["GitHub sign-in Express", "/packages/oauth2/"],
      ["middleware for one route", "/middlewares.html"],
      ["rate limit behind nginx", "/middlewares.html"],
      ["Google login", "/packages/oauth2/"],
      ["MongoDB", "/from-mongodb.html"],
      ["password reset mail", "/rest/accounts.html"],
      ["Claude GPT cost", "/models.html"],
      ["resume an agent run", "/fetchwork/agent.html"],
      ["mount in existing Express app", "/middleware/from-other-servers.html"],
      ["static files", "/middlewares.html"],
      ["file uploads", "/not-included.html"],
      ["admin UI", "/not-included.html"],
      ["realtime", "/not-included.html"],
      ["Docker", "/deploy.html"],
      ["systemd", "/deploy.html"],
      ["TLS certificate", "/deploy.html"],
      ["sign-up from a browser", "/not-included.html"],
      ["my own route", "/own-routes.html"],
      ["test my API", "/testing.html"],
      ["nightly job", "/tutorial-shop.html"],
      ["cron", "/service/background.html"],
      ["rename a field with data", "/changing-models.html"],
    ])("finds for %j the page %s among the first three hits", (query, page) => {
      expect(find(query).slice(0, 3)).toContain(page);
    });
  });

  describe.skipIf(!hasChromium)("in Chromium", () => {
    const axe = join(site, "node_modules/axe-core/axe.min.js");
    let browser: Browser | undefined;
    let server: Awaited<ReturnType<typeof serve>> | undefined;

    beforeAll(async () => {
      server = await serve(fileServer(built), { port: 0, hostname: "127.0.0.1", signals: false });
      browser = await chromium.launch({
        executablePath,
        args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
      });
    });
    afterAll(async () => {
      await browser?.close();
      await server?.close({ gracePeriod: 0 });
    });

    const pages = [
      "",
      "deploy.html",
      "middlewares.html",
      "packages/http/",
      "reference/@fetchwork/http/serve.html",
      "404.html",
    ];
    const views = [375, 1_280].flatMap((width) =>
      (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
    );
    const cases = pages.flatMap((page) => views.map((view) => ({ page, ...view })));

    it.each(cases)(
      "/$page at $width px, $colorScheme, has no error, foreign request, overflow or barrier",
      async ({ page, width, colorScheme }) => {
        if (!browser || !server) expect.fail("no browser");
        const tab = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
        const errors: string[] = [];
        const foreign: string[] = [];
        const { origin } = new URL(server.url);
        tab.on("pageerror", (error) => errors.push(error.message));
        tab.on("console", (message) => {
          if (message.type() === "error") errors.push(message.text());
        });
        tab.on("request", (request) => {
          const url = new URL(request.url());
          if (url.origin !== origin && url.protocol !== "data:") foreign.push(url.href);
        });
        await tab.goto(server.url + page, { waitUntil: "networkidle" });
        await tab.addScriptTag({ path: axe });
        const scrolled = await tab.evaluate(() => document.documentElement.scrollWidth);
        const barriers = await tab.evaluate(async () => {
          const { axe: tool } = globalThis as unknown as {
            axe: {
              run: () => Promise<{
                violations: {
                  id: string;
                  nodes: { target: unknown[]; failureSummary?: string }[];
                }[];
              }>;
            };
          };
          const { violations } = await tool.run();
          return violations.map(
            ({ id, nodes }) =>
              `${id}: ${nodes
                .map((n) => JSON.stringify(n.target))
                .slice(0, 3)
                .join(" ")} ${nodes[0]?.failureSummary ?? ""}`,
          );
        });
        if (shots !== undefined) {
          const name = `${page.replaceAll(/\W/g, "_")}-${width}-${colorScheme}.png`;
          await tab.screenshot({ path: join(shots, name) });
        }
        await tab.close();
        expect({ errors, foreign, scrolled, barriers }).toEqual({
          errors: [],
          foreign: [],
          scrolled: width,
          barriers: [],
        });
      },
    );

    it("finds a page by its search box, without a request to the network", async () => {
      if (!browser || !server) expect.fail("no browser");
      const tab = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
      await tab.goto(server.url, { waitUntil: "networkidle" });
      await tab.keyboard.press("Control+k");
      await tab.locator(".VPLocalSearchBox input").fill("rate limit behind nginx");
      await tab.locator(".VPLocalSearchBox .result").first().click();
      await tab.waitForURL(/middlewares\.html#a-rate-limit-behind-nginx/);
      await tab.close();
    });
  });
});
