import { text, wrap, type Handler } from "@fetchwork/http";
import { expect, it } from "vitest";
import { cors, type CorsOptions } from "../../src/index.ts";
import { executablePath, isMissing, open, openPage } from "../chromium.ts";

it("this machine has Chromium for the tests of CORS", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

const page: Handler = () =>
  text("<title>page</title>", { headers: { "content-type": "text/html" } });

/** Responds with the cookie that came, and sets one. */
const api: Handler = (request) =>
  text(`${request.method} ${request.headers.get("cookie") ?? "no cookie"}`, {
    headers: { "set-cookie": "seen=1", "x-total": "7" },
  });

/** The part of `RequestInit` that crosses into the browser. */
interface Sent {
  readonly method?: string;
  readonly mode?: RequestMode;
  readonly credentials?: RequestCredentials;
  readonly headers?: Record<string, string>;
}

interface Asked {
  readonly sent: Sent;
  readonly result: string;
}

it.skipIf(isMissing)("cors lets a page read exactly what the options allow", async () => {
  const site = await open(page);
  const origin = new URL(site.url).origin;
  const tab = await openPage();
  await tab.goto(site.url);
  /** Body and one header, or that the browser refused. */
  const ask = (url: string, init: Sent): Promise<string> =>
    tab.evaluate(
      async ([address, options]) => {
        try {
          const response = await fetch(address, options);
          return `${await response.text()}, x-total ${response.headers.get("x-total")}`;
        } catch {
          return "refused";
        }
      },
      [url, init] as const,
    );
  const rows: [string, CorsOptions, Asked[]][] = [
    [
      "everybody",
      { exposedHeaders: ["X-Total"] },
      [
        { sent: {}, result: "GET no cookie, x-total 7" },
        { sent: { method: "PUT" }, result: "PUT no cookie, x-total 7" },
        { sent: { headers: { authorization: "Bearer a" } }, result: "GET no cookie, x-total 7" },
        { sent: { headers: { "x-other": "1" } }, result: "refused" },
        { sent: { method: "BREW" }, result: "refused" },
        { sent: { credentials: "include" }, result: "refused" },
      ],
    ],
    [
      "this origin with credentials",
      { allowedOrigins: [origin], allowCredentials: true, allowedHeaders: ["X-Other"], maxAge: 60 },
      [
        { sent: { credentials: "include" }, result: "GET no cookie, x-total null" },
        { sent: { credentials: "include" }, result: "GET seen=1, x-total null" },
        {
          sent: { credentials: "include", method: "DELETE", headers: { "x-other": "1" } },
          result: "DELETE seen=1, x-total null",
        },
        { sent: {}, result: "GET no cookie, x-total null" },
      ],
    ],
    [
      "another origin",
      { allowedOrigins: ["https://other.example"] },
      [
        { sent: {}, result: "refused" },
        { sent: { method: "PUT" }, result: "refused" },
        { sent: { mode: "no-cors" }, result: ", x-total null" },
      ],
    ],
  ];
  for (const [name, options, asked] of rows) {
    const server = await open(wrap(api, cors(options)));
    await tab.context().clearCookies();
    for (const { sent, result } of asked) {
      expect([name, sent, await ask(server.url, sent)]).toEqual([name, sent, result]);
    }
  }
});

it.skipIf(isMissing)("cors allows a sandboxed frame only when null is listed", async () => {
  const servers = {
    everybody: await open(wrap(api, cors())),
    listed: await open(wrap(api, cors({ allowedOrigins: ["null"] }))),
    unlisted: await open(wrap(api, cors({ allowedOrigins: ["https://a.example"] }))),
  };
  const site = await open(page);
  const tab = await openPage();
  await tab.goto(site.url);
  const results = await tab.evaluate(
    (urls) => {
      const script = `Promise.all(${JSON.stringify(urls)}.map((url) =>
        fetch(url).then((response) => response.text(), () => "refused")
      )).then((results) => parent.postMessage(results, "*"))`;
      const frame = document.createElement("iframe");
      frame.setAttribute("sandbox", "allow-scripts");
      frame.srcdoc = `<script>${script}</script>`;
      const message = new Promise<unknown>((resolve) => {
        addEventListener("message", ({ data }) => resolve(data), { once: true });
      });
      document.body.append(frame);
      return message;
    },
    Object.values(servers).map(({ url }) => url),
  );
  expect(results).toEqual(["GET no cookie", "GET no cookie", "refused"]);
});
