import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { wrap, type Middleware } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileServer, type FileServerOptions } from "../../src/node/file-server.ts";

let folder: string;
let root: string;
const day = new Date("2026-01-02T03:04:05Z");
const script = "console.log(1);\n".repeat(50);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "file-server-"));
  root = join(folder, "root");
  const files: Record<string, string | Uint8Array> = {
    "secret.txt": "secret",
    "root-sibling/secret.txt": "secret",
    "root/index.html": "root index",
    "root/xyz.js": script,
    "root/xyz.js.br": brotliCompressSync(script),
    "root/xyz.js.gz": gzipSync(script),
    "root/old.css": "new",
    "root/old.css.gz": gzipSync("old"),
    "root/digits.bin": "0123456789",
    "root/empty.txt": "",
    "root/big.bin": "x".repeat(1_000_000),
    "root/.env": "secret",
    "root/.git/config": "secret",
    "root/.well-known/security.txt": "Contact",
    "root/1/f1.html": "f1",
    "root/1/f2.html": "f2",
    "root/1/<b>&'.txt": "odd",
    "root/2/index.html": "2 index",
    "root/2/f123.txt": "f123",
    "root/a b/é.html": "accent",
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
    utimesSync(join(folder, name), day, day);
  }
  utimesSync(join(root, "old.css.gz"), new Date(0), new Date(0));
  symlinkSync(join(folder, "secret.txt"), join(root, "out.txt"));
  symlinkSync(folder, join(root, "out"));
  symlinkSync(join(folder, "root-sibling"), join(root, "sibling"));
  symlinkSync(join(root, ".env"), join(root, "hidden.txt"));
  symlinkSync(join(root, ".git", "config"), join(root, "config.txt"));
  symlinkSync(join(root, "2"), join(root, "inside"));
  symlinkSync(join(root, "loop"), join(root, "loop"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function ask(
  path: string,
  options: FileServerOptions = {},
  init: RequestInit = {},
): Promise<Response> {
  const handler = wrap(fileServer(root, { prefix: "/static", ...options }));
  return handler(new Request(`http://h${path}`, init));
}

async function read(path: string, options?: FileServerOptions): Promise<string> {
  const response = await ask(path, options);
  return `${response.status} ${await response.text()}`;
}

const missing = "404 404 page not found\n";

describe("fileServer", () => {
  it.each<[string, string, object]>([
    ["a root that is missing", "/does/not/exist", {}],
    ["a root that is a file", import.meta.filename, {}],
    ["a prefix that is not a path", ".", { prefix: "static" }],
    ["an index in another folder", ".", { index: "../index.html" }],
    ["a Cache-Control with a line break", ".", { cacheControl: "a\nb" }],
    ["a media type with a line break", ".", { mediaTypes: { a: "b\r\nc" } }],
  ])("refuses %s", (_, root, options) => {
    expect(() => fileServer(root, options)).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it.each([
    // Nothing outside, nothing hidden.
    "/static/out.txt",
    "/static/out/secret.txt",
    "/static/sibling/secret.txt",
    "/static/hidden.txt",
    "/static/config.txt",
    "/static/loop",
    "/static/.env",
    "/static/.git/config",
    "/static/%2egit/config",
    "/static/..%2fsecret.txt",
    "/static/%2e%2e%2fsecret.txt",
    "/static/..%5csecret.txt",
    "/static/%252e%252e/secret.txt",
    "/static/2%2ff123.txt",
    "/static//xyz.js",
    "/static/xyz.js/",
    "/static/xyz.js%00.html",
    "/static/%ff",
    "/static/2/../../../secret.txt",
    "/static/a".padEnd(5000, "a"),
    "/staticx/xyz.js",
    "/xyz.js",
  ])("responds with 404 for %s, also with listing and as an application", async (path) => {
    for (const options of [{}, { listing: true }]) expect(await read(path, options)).toBe(missing);
    expect(await read(path, { spa: true })).not.toContain("secret");
  });

  it.each<[string, string, string]>([
    // Research A19: path, by default, as an application. Go redirects /static/index.html to ./.
    ["/static/", "200 root index", "200 root index"],
    ["/static/index.html", "200 root index", "200 root index"],
    ["/static/xyz.js", `200 ${script}`, `200 ${script}`],
    ["/static/1/", missing, missing],
    ["/static/1/nothing", missing, "200 root index"],
    ["/static/2/index", missing, "200 root index"],
    ["/static/blah/foo", missing, "200 root index"],
    ["/static/2/", "200 2 index", "200 2 index"],
    ["/static/inside/", "200 2 index", "200 2 index"],
    ["/static/x/../2/f123.txt", "200 f123", "200 f123"],
    ["/static/x/%2e%2e/2/f123.txt?a=b", "200 f123", "200 f123"],
    ["/static/%32/f123.txt", "200 f123", "200 f123"],
    ["/static/a%20b/%C3%A9.html", "200 accent", "200 accent"],
    ["/static/.well-known/security.txt", "200 Contact", "200 Contact"],
    ["/static/empty.txt", "200 ", "200 "],
  ])("responds to %s", async (path, plain, application) => {
    expect(await read(path)).toBe(plain);
    expect(await read(path, { spa: true })).toBe(application);
  });

  it.each([
    ["/static", "./static/"],
    ["/static?a=b", "./static/?a=b"],
    ["/static/2", "./2/"],
    ["/static/a%20b?c", "./a%20b/?c"],
  ])("redirects the folder %s to %s", async (path, location) => {
    const response = await ask(path);
    expect([response.status, response.headers.get("location")]).toEqual([301, location]);
  });

  it("never redirects to another host", async () => {
    const response = await ask("//2", { prefix: "/" });
    expect(response.status).toBe(404);
  });

  it("lists a folder only with the option listing, without what it does not serve", async () => {
    const response = await ask("/static/1/", { listing: true });
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await response.text()).toBe(
      `<!doctype html>\n<meta charset="utf-8">\n<pre>\n<a href="./%3Cb%3E%26%27.txt">&lt;b&gt;&amp;&#39;.txt</a>\n<a href="./f1.html">f1.html</a>\n<a href="./f2.html">f2.html</a>\n</pre>\n`,
    );
    const list = await read("/static/", { listing: true, index: false });
    expect(list).toContain('"./1/"');
    expect(list).not.toMatch(/\.env|\.git|out|hidden|loop/);
  });

  it.each(["/static/nothing", "/other", "/static/.env"])(
    "responds to %s with its own page, also with listing",
    async (path) => {
      for (const listing of [false, true]) {
        const response = await ask(path, { notFound: "<h1>gone</h1>", listing });
        expect(response.status).toBe(404);
        expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(await response.text()).toBe("<h1>gone</h1>");
      }
    },
  );

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("responds to %s with 405", async (method) => {
    const response = await ask("/static/xyz.js", {}, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("describes a file, with Cache-Control of the option", async () => {
    const response = await ask("/static/digits.bin", {
      cacheControl: (path) => (path.endsWith(".bin") ? "max-age=5" : undefined),
      mediaTypes: { BIN: "application/x-digits" },
    });
    expect(Object.fromEntries(response.headers)).toEqual({
      "accept-ranges": "bytes",
      "cache-control": "max-age=5",
      "content-length": "10",
      "content-type": "application/x-digits",
      etag: `W/"a-${day.getTime().toString(16)}"`,
      "last-modified": "Fri, 02 Jan 2026 03:04:05 GMT",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    expect((await ask("/static/xyz.js")).headers.get("content-type")).toBe(
      "text/javascript; charset=utf-8",
    );
    const unknown = await ask("/static/digits.bin");
    expect(unknown.headers.get("content-type")).toBe("application/octet-stream");
  });

  const tag = `W/"a-${day.getTime().toString(16)}"`;
  const date = "Fri, 02 Jan 2026 03:04:05 GMT";
  const later = "Fri, 02 Jan 2026 03:04:06 GMT";
  const earlier = "Fri, 02 Jan 2026 03:04:04 GMT";
  it.each<[Record<string, string>, number]>([
    [{ "if-none-match": tag }, 304],
    [{ "if-none-match": `"x", ${tag.slice(2)}` }, 304],
    [{ "if-none-match": "*" }, 304],
    [{ "if-none-match": '"x"' }, 200],
    [{ "if-none-match": '"x"', "if-modified-since": later }, 200],
    [{ "if-modified-since": date }, 304],
    [{ "if-modified-since": later }, 304],
    [{ "if-modified-since": earlier }, 200],
    [{ "if-modified-since": "tomorrow" }, 200],
    [{ "if-match": "*" }, 200],
    [{ "if-match": tag }, 412],
    [{ "if-unmodified-since": date }, 200],
    [{ "if-unmodified-since": earlier }, 412],
    [{ range: "bytes=0-1" }, 206],
    [{ range: "bytes=0-1", "if-range": date }, 206],
    [{ range: "bytes=0-1", "if-range": earlier }, 200],
    [{ range: "bytes=0-1", "if-range": later }, 200],
    [{ range: "bytes=0-1", "if-range": tag }, 200],
    [{ range: "bytes=10-" }, 416],
    [{ range: "bytes=0-1", "if-none-match": tag }, 304],
  ])("responds to the conditions %j with %s", async (headers, status) => {
    const response = await ask("/static/digits.bin", {}, { headers });
    expect(response.status).toBe(status);
    if (status === 304) {
      expect(response.headers.get("etag")).toBe(tag);
      expect(response.body).toBeNull();
    }
  });

  it.each([
    ["bytes=0-0", "0", "bytes 0-0/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=-2", "89", "bytes 8-9/10"],
    ["bytes=5-99", "56789", "bytes 5-9/10"],
  ])("responds to the range %s", async (range, body, contentRange) => {
    const response = await ask("/static/digits.bin", {}, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(contentRange);
    expect(response.headers.get("content-length")).toBe(String(body.length));
    expect(await response.text()).toBe(body);
  });

  it("responds to several ranges with multipart/byteranges and the right length", async () => {
    const response = await ask("/static/digits.bin", {}, { headers: { range: "bytes=-1,0-1" } });
    const type = response.headers.get("content-type") ?? "";
    const boundary = /^multipart\/byteranges; boundary=(\S+)$/.exec(type)?.[1] ?? "";
    const body = await response.text();
    const head = "Content-Type: application/octet-stream\r\nContent-Range: bytes";
    expect(body).toBe(
      `--${boundary}\r\n${head} 9-9/10\r\n\r\n9\r\n--${boundary}\r\n${head} 0-1/10\r\n\r\n01\r\n--${boundary}--\r\n`,
    );
    expect(response.headers.get("content-length")).toBe(String(body.length));
  });

  it("sends the size of the file when no range is inside", async () => {
    const response = await ask("/static/digits.bin", {}, { headers: { range: "bytes=50-" } });
    expect(response.headers.get("content-range")).toBe("bytes */10");
    expect(await response.text()).toBe("");
  });

  it.each([
    ["br, gzip", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["zstd, gzip", "gzip"],
    ["gzip;q=0.5, br;q=0.4", "gzip"],
    ["identity", null],
    ["gzip;q=0", null],
  ])("chooses a precompressed file for %s", async (accepted, coding) => {
    const headers = { "accept-encoding": accepted };
    const response = await ask("/static/xyz.js", {}, { headers });
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const bytes = await response.bytes();
    expect(response.headers.get("content-length")).toBe(String(bytes.length));
    if (coding === "br") expect(brotliDecompressSync(bytes).toString()).toBe(script);
    expect(response.headers.get("etag")).toMatch(
      coding === null ? /\w"$/ : new RegExp(`-${coding}"$`),
    );
  });

  it("sends no precompressed file that is old, for ranges, or without the option", async () => {
    const headers = { "accept-encoding": "gzip" };
    expect(await (await ask("/static/old.css", {}, { headers })).text()).toBe("new");
    const range = { ...headers, range: "bytes=0-6" };
    expect(await (await ask("/static/xyz.js", {}, { headers: range })).text()).toBe("console");
    const plain = await ask("/static/xyz.js", { precompressed: false }, { headers });
    expect([plain.headers.get("content-encoding"), plain.headers.get("vary")]).toEqual([
      null,
      null,
    ]);
  });

  it("responds to HEAD as to GET, without a body", async () => {
    for (const path of ["/static/xyz.js", "/static/nothing", "/static/2/"]) {
      const [get, head] = [await ask(path), await ask(path, {}, { method: "HEAD" })];
      expect(head.status).toBe(get.status);
      expect([...head.headers]).toEqual([...get.headers]);
    }
    expect((await ask("/static/xyz.js", {}, { method: "HEAD" })).body).toBeNull();
  });
});

describe("fileServer over a socket", () => {
  const openFiles = (): number => readdirSync("/proc/self/fd").length;
  const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };

  it("serves curl: HEAD, ranges, resumption and --compressed", async () => {
    await using server = await serve(fileServer(root), options);
    const curl = async (...args: string[]): Promise<string> => {
      const all = ["-sS", "--path-as-is", ...args];
      return (await promisify(execFile)("curl", all, { maxBuffer: 4e6 })).stdout;
    };
    const head = await curl("-I", `${server.url}digits.bin`);
    expect(head).toMatch(/^HTTP\/1.1 200[^]*content-length: 10\r\n/i);
    expect(await curl("-r", "2-4", `${server.url}digits.bin`)).toBe("234");
    expect(await curl("-r", "-3", `${server.url}digits.bin`)).toBe("789");
    expect(await curl("-r", "0-1,8-9", `${server.url}digits.bin`)).toMatch(/01\r\n[^]*89\r\n/);
    expect(await curl("--compressed", `${server.url}xyz.js`)).toBe(script);
    expect(await curl("-L", `${server.url}2`)).toBe("2 index");
    const part = join(folder, "part.bin");
    writeFileSync(part, "01234");
    expect(await curl("-C", "-", "-o", part, "-w", "%{http_code}", `${server.url}digits.bin`)).toBe(
      "206",
    );
    for (const path of [
      "../secret.txt",
      "..%2fsecret.txt",
      "%2e%2e/secret.txt",
      "out/secret.txt",
      ".env",
    ]) {
      expect(await curl("-w", "%{http_code}", `${server.url}${path}`)).toMatch(/404$/);
    }
    expect((await curl(`${server.url}big.bin`)).length).toBe(1_000_000);
  });

  it("fails the request, and keeps no file open, when the option cacheControl throws", async () => {
    const before = readdirSync("/proc/self/fd").length;
    const cacheControl = (): string => {
      throw new Error("no rule");
    };
    await expect(ask("/static/xyz.js", { cacheControl })).rejects.toThrow("no rule");
    const broken = { cacheControl: () => "a\nb" };
    await expect(ask("/static/xyz.js", broken)).rejects.toThrow(TypeError);
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
  });

  it("aborts the response when the file becomes shorter while it is sent", async () => {
    const file = join(root, "shrinking.bin");
    writeFileSync(file, "x".repeat(1_000_000));
    const response = await ask("/static/shrinking.bin");
    truncateSync(file, 70_000);
    await expect(response.arrayBuffer()).rejects.toThrow("the file became shorter");
    rmSync(file);
  });

  it("keeps no file open: after the whole, a part, HEAD, 304, an abort, and a dropped response", async () => {
    const drops: Middleware = (next) => async (request, context) => {
      const response = await next(request, context);
      return request.headers.has("x-drop") ? new Response("dropped") : response;
    };
    await using server = await serve(wrap(fileServer(root), drops), options);
    const url = `${server.url}big.bin`;
    await (await fetch(url)).arrayBuffer();
    const before = openFiles();
    for (let round = 0; round < 20; round += 1) {
      await (await fetch(url)).arrayBuffer();
      await (await fetch(url, { headers: { range: "bytes=5-9" } })).text();
      await fetch(url, { method: "HEAD" });
      await fetch(url, { headers: { "if-none-match": "*" } });
      await (await fetch(url, { headers: { "x-drop": "1" } })).text();
      await (await fetch(`${server.url}2/nothing`)).text();
      const asker = new AbortController();
      const response = await fetch(url, { signal: asker.signal });
      await response.body?.getReader().read();
      asker.abort();
    }
    await expect.poll(() => openFiles()).toBeLessThan(before + 20);
  });
});
