import { empty, text, wrap, type Handler } from "@fetchwork/http";
import { expect, it } from "vitest";
import { secAllHeaders, secure } from "../../src/index.ts";
import { executablePath, isMissing, open, openPage } from "../chromium.ts";

it("this machine has Chromium for the tests of the security headers", ({ skip }) => {
  skip(isMissing && !process.env["CI"], `${executablePath} is not installed`);
  expect(isMissing).toBe(false);
});

const types: Readonly<Record<string, string>> = { js: "text/javascript", txt: "text/plain" };

/** A page with scripts of every origin, and a script that is served as text. */
function site(foreign: string, nonce = ""): Handler {
  const html = `<!doctype html><title>page</title><body>
    <script>window.inline = true</script>
    <script nonce="${nonce}">window.nonce = true</script>
    <script src="/own.js"></script>
    <script src="/own.txt"></script>
    <script src="${foreign}foreign.js"></script>`;
  return ({ url }) => {
    const name = new URL(url).pathname.slice(1);
    const type = types[name.split(".")[1] ?? ""];
    if (type === undefined) return text(html, { headers: { "content-type": "text/html" } });
    return text(`window.${name.replace(".", "_")} = true`, { headers: { "content-type": type } });
  };
}

const ran = (): string[] =>
  ["inline", "nonce", "own_js", "own_txt", "foreign_js"].filter((name) => name in window);

it.skipIf(isMissing)("secure runs in the browser only what the policy allows", async () => {
  const foreign = (await open(site(""))).url;
  const tab = await openPage();
  const plain = await open(site(foreign));
  await tab.goto(plain.url);
  expect(await tab.evaluate(ran)).toEqual(["inline", "nonce", "own_js", "own_txt", "foreign_js"]);
  const sniffing = await open(wrap(site(foreign), secure()));
  await tab.goto(sniffing.url);
  expect(await tab.evaluate(ran)).toEqual(["inline", "nonce", "own_js", "foreign_js"]);
  const strict = await open(wrap(site(foreign), secure(secAllHeaders())));
  await tab.goto(strict.url);
  expect(await tab.evaluate(ran)).toEqual(["own_js"]);
  const policy = (): string => "script-src 'nonce-n1'";
  const nonced = await open(wrap(site(foreign, "n1"), secure({ contentSecurityPolicy: policy })));
  await tab.goto(nonced.url);
  expect(await tab.evaluate(ran)).toEqual(["nonce"]);
});

it.skipIf(isMissing)("secure keeps other sites from framing the page", async () => {
  const framed = await open(wrap(() => text("framed"), secure()));
  const free = await open(wrap(() => text("framed"), secure({ frameOptions: "" })));
  const frames = `<iframe src="${framed.url}"></iframe><iframe src="${free.url}"></iframe>`;
  const outer = await open(({ url }) =>
    url.endsWith("/favicon.ico")
      ? empty(404)
      : text(frames, { headers: { "content-type": "text/html" } }),
  );
  const tab = await openPage();
  await tab.goto(outer.url);
  const urls = tab.frames().map((frame) => frame.url());
  expect(urls).toEqual([outer.url, expect.not.stringContaining(framed.url), free.url]);
});
