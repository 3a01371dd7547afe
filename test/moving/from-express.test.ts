import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { importBlock } from "./page-block.ts";
// What the code before the move responded, in Express 5.3.0 with helmet 8.3.0, cors 2.8.6, morgan
// 1.12.1, compression 1.8.2 and express-rate-limit 8.7.5, with NODE_ENV=production.
import record from "./records/express.json" with { type: "json" };

interface Exchange {
  readonly request: {
    readonly name: string;
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

const exchanges = new Map(
  (record as unknown as readonly Exchange[]).map((exchange) => [exchange.request.name, exchange]),
);

let folder = "";
let server: Awaited<ReturnType<typeof serve>>;
const log: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "from-express-"));
  const files = join(folder, "public");
  await mkdir(files);
  await writeFile(join(files, "index.html"), "<!doctype html><title>Hello</title>\n");
  await writeFile(join(files, ".env"), "secret");
  const { handler } = await importBlock<{ handler: Handler }>("from-express.md", "ts", {
    '"public"': JSON.stringify(files),
    'format: "combined",': 'format: "combined", sink: (line) => globalThis.fromExpressLog?.(line),',
    "recoverer()": "recoverer({ log: () => undefined })",
  });
  vi.stubGlobal("fromExpressLog", (line: string) => log.push(line));
  server = await serve(handler, { port: 0, hostname: "127.0.0.1" });
});

afterAll(async () => {
  vi.unstubAllGlobals();
  await server.close({ gracePeriod: 0 });
  await rm(folder, { recursive: true });
});

async function repeat(name: string): Promise<{ before: Exchange["response"]; after: Response }> {
  const { request, response } = exchanges.get(name) ?? expect.fail(`no record of ${name}`);
  const { method, path, headers, body = null } = request;
  const after = await fetch(new URL(path, server.url), { method, headers, body });
  return { before: response, after };
}

describe("the converted service of from-express.md", () => {
  it.each([
    "a route",
    "a route with an encoded parameter",
    "a page of another origin",
    "a page of a foreign origin",
    "a preflight",
    "a JSON body",
    "a compressible response",
    "a static file",
  ])("has the status and the body of the Express service for %s", async (name) => {
    const { before, after } = await repeat(name);
    expect([after.status, await after.text()]).toEqual([before.status, before.body]);
    const type = before.headers["content-type"]?.split(";")[0];
    expect(after.headers.get("content-type")?.split(";")[0]).toBe(type);
  });

  it.each([
    ["a page of another origin", "access-control-allow-origin"],
    ["a page of another origin", "access-control-allow-credentials"],
    ["a page of a foreign origin", "access-control-allow-origin"],
    ["a preflight", "access-control-allow-origin"],
    ["a preflight", "access-control-max-age"],
    ["a compressible response", "content-encoding"],
    ["a static file", "accept-ranges"],
    ["a route", "x-frame-options"],
    ["a route", "x-content-type-options"],
    ["a route", "x-xss-protection"],
    ["a route", "x-dns-prefetch-control"],
    ["a route", "referrer-policy"],
    ["a route", "cross-origin-opener-policy"],
    ["a route", "cross-origin-resource-policy"],
    ["a route", "origin-agent-cluster"],
    ["a handler that throws", "x-frame-options"],
  ])("responds to %s with the same %s", async (name, header) => {
    const { before, after } = await repeat(name);
    expect(after.headers.get(header)).toBe(before.headers[header] ?? null);
  });

  it.each([
    ["broken JSON", /^\{"error":".*","code":"ERR_MIDDLEWARE_BODY_INVALID"\}$/],
    ["a large body", /^\{"error":".*","code":"ERR_MIDDLEWARE_BODY_TOO_LARGE"\}$/],
    ["a missing path", /^404 page not found$/],
    ["a hidden file", /^404 page not found$/],
    ["a handler that throws", /^Internal Server Error$/],
  ])("refuses %s without the HTML page of Express", async (name, body) => {
    const { before, after } = await repeat(name);
    expect(before.body).toContain("<!DOCTYPE html>");
    expect(after.status).toBe(before.status);
    expect((await after.text()).trim()).toMatch(body);
  });

  it("refuses a method that no file has with 405, where Express responds with 404", async () => {
    const { before, after } = await repeat("a method that a route does not have");
    expect([before.status, after.status]).toEqual([404, 405]);
  });

  it("reads a JSON body of another type, which Express does not", async () => {
    const { before, after } = await repeat("a body of another type");
    expect([before.status, after.status]).toEqual([500, 201]);
  });

  it.each([
    ["a route", "content-type", "application/json; charset=utf-8", "application/json"],
    ["a page of a foreign origin", "access-control-allow-credentials", "true", null],
    [
      "a preflight",
      "access-control-allow-headers",
      "content-type",
      "Accept, Content-Type, Authorization, X-Requested-With",
    ],
    ["a route", "strict-transport-security", "max-age=31536000; includeSubDomains", null],
    ["a route", "permissions-policy", undefined, "geolocation=(), microphone=(), camera=()"],
    ["a route", "ratelimit-policy", expect.stringContaining("q=100; w=60"), '"default";q=100;w=60'],
    ["a static file", "cache-control", "public, max-age=0", null],
  ])("differs for %s in %s, as the page says", async (name, header, there, here) => {
    const { before, after } = await repeat(name);
    expect(before.headers[header]).toEqual(there);
    expect(after.headers.get(header)).toBe(here);
  });

  it("writes the line of morgan's combined format", async () => {
    await (await repeat("a route")).after.text();
    await vi.waitFor(() =>
      // One call may write several lines.
      expect(log.join("").trimEnd().split("\n").at(-1)).toMatch(
        /^127\.0\.0\.1 - - \[.+\] "GET \/users\/1 HTTP\/1\.1" 200 23 "-" "node"$/,
      ),
    );
  });
});
