import assert from "node:assert/strict";
import type { BackEndTask } from "./back-end-task.ts";

const redirect: BackEndTask = {
  name: "safe-redirect",
  request:
    "GET /leave?to=/welcome redirects with 303 to a page of this site; our pages use it after a form. `to` begins with a slash, and may have a query and a fragment. A target on another site is 400, however it is written: nobody may use our address to lead people elsewhere. Without `to` it is 400.",
  async check(service) {
    for (const to of ["/welcome", "/a/b?c=d&e=f", "/x#y"]) {
      const { status, headers } = await service.send(`GET /leave?to=${encodeURIComponent(to)}`);
      const location = new URL(headers.get("location") ?? "", "http://localhost/leave");
      assert.deepEqual([status, location.href], [303, `http://localhost${to}`]);
    }
    const hostile = [
      "https://evil.test/",
      "//evil.test",
      "/\\evil.test",
      "\\\\evil.test",
      "/\t/evil.test",
      "/\n/evil.test",
      "https:evil.test",
      "javascript:alert(1)",
      "/\r\nset-cookie: a=b",
      "///evil.test",
      "evil.test",
      "",
    ];
    for (const to of hostile) {
      const { status, headers } = await service.send(`GET /leave?to=${encodeURIComponent(to)}`);
      assert.equal(status, 400, `${JSON.stringify(to)} is ${status}`);
      assert.deepEqual([headers.get("location"), headers.get("set-cookie")], [null, null]);
    }
    assert.equal((await service.send("GET /leave")).status, 400);
  },
};

const preview: BackEndTask = {
  name: "link-preview",
  request:
    'POST /previews with {"url":"https://docs.example.com/page"} of a user fetches that page with the global fetch and responds 200 with {"title":"..."}, the text of its first title element, or {"title":null}. We only show pages of the hosts in src/preview-hosts.ts, by https and its standard port: any other URL is 400 and is not fetched. A page that redirects is 502 and its target is not fetched; so are pages that fail. Callers who are not signed in get 401.',
  files: {
    "src/preview-hosts.ts": `/** Hosts whose pages may be shown. */
export const previewHosts: readonly string[] = ["docs.example.com", "blog.example.com"];
`,
  },
  async check(service) {
    const as = await service.user();
    const asked: string[] = [];
    const given = globalThis.fetch;
    globalThis.fetch = (input, init) =>
      Promise.resolve(new Request(input, init)).then((request) => pageOf(request, asked));
    try {
      const show = (url: unknown, by: string | undefined = as) =>
        service.send("POST /previews", { as: by, json: { url } });
      const { title } = await service.created("POST /previews", {
        as,
        json: { url: "https://docs.example.com/page" },
      });
      assert.match(String(title), /^Tea &(?:amp;)? more$/);
      assert.equal((await show("https://BLOG.example.com/x")).status, 200);
      assert.deepEqual(asked.splice(0), [
        "https://docs.example.com/page",
        "https://blog.example.com/x",
      ]);
      const anonymous = { json: { url: "https://docs.example.com/page" } };
      assert.equal((await service.send("POST /previews", anonymous)).status, 401);
      const hostile = [
        "http://docs.example.com/",
        "https://docs.example.com:8443/",
        "https://docs.example.com.evil.test/",
        "https://evil.test/docs.example.com",
        "https://docs.example.com@evil.test/",
        "https://evil.test/?https://docs.example.com/",
        "https://evildocs.example.com/",
        "https://a.docs.example.com/",
        "http://127.0.0.1/",
        "file:///etc/passwd",
        "//docs.example.com/",
        "x",
        1,
      ];
      for (const url of hostile)
        assert.equal((await show(url)).status, 400, `${url} is not refused`);
      assert.deepEqual(asked, [], "a URL that is refused was fetched");
      for (const path of ["moved", "down", "missing"]) {
        assert.equal((await show(`https://docs.example.com/${path}`)).status, 502, path);
      }
      assert.doesNotMatch(asked.join(), /169\.254/, "a redirect was followed");
    } finally {
      globalThis.fetch = given;
    }
  },
};

/** What the hosts respond; the address of a redirect that is followed is noted, too. */
function pageOf({ redirect: mode, url }: Request, asked: string[]): Response {
  asked.push(url);
  const { pathname } = new URL(url);
  if (pathname === "/missing") return new Response("none", { status: 404 });
  if (pathname === "/down" || (pathname === "/moved" && mode === "error")) {
    throw new TypeError("fetch failed");
  }
  if (pathname !== "/moved") {
    return new Response("<html><title>Tea &amp; more</title><title>2</title></html>");
  }
  const location = "http://169.254.169.254/latest";
  if (mode === "manual") return new Response(null, { status: 302, headers: { location } });
  asked.push(location);
  return new Response("<title>Secret</title>");
}

/** URLs that lead elsewhere. */
export const urlTasks: readonly BackEndTask[] = [redirect, preview];
