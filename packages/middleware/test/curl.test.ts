import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { text, wrap, type Handler } from "@fetchwork/http";
import { fromNodeListener, serve, writeEarlyHints } from "@fetchwork/http/serve";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import {
  cacheControl,
  compress,
  cors,
  recoverer,
  secure,
  serverTiming,
  timeout,
} from "../src/index.ts";

const run = promisify(execFile);
const isMissing = spawnSync("curl", ["--version"]).status !== 0;
const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. ".repeat(100);
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

it("this machine has curl", ({ skip }) => {
  skip(isMissing && !process.env["CI"], "curl is not installed");
  expect(isMissing).toBe(false);
});

const routes: Handler = async (request, context) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/upload") return text(`${request.method} ${(await request.text()).length}`);
  if (pathname === "/hints") writeEarlyHints(context, ["</app.css>; rel=preload; as=style"]);
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "");
  if (range === null) return text(lorem, { headers: { "accept-ranges": "bytes" } });
  const [first, last] = [Number(range[1]), Number(range[2])];
  return text(lorem.slice(first, last + 1), {
    status: 206,
    headers: { "content-range": `bytes ${first}-${last}/${lorem.length}` },
  });
};

function expressApp(): Handler {
  const app = express().disable("etag");
  app.post("/upload", (request, response) => {
    let size = 0;
    request.on("data", (chunk: Buffer) => (size += chunk.length));
    request.on("end", () => response.send(`POST ${size}`));
  });
  app.get("/hints", (_request, response) => {
    response.writeEarlyHints({ link: "</app.css>; rel=preload; as=style" });
    response.send(lorem);
  });
  app.get("/", (request, response) => {
    const [range] = [request.range(lorem.length) ?? []]
      .flat()
      .filter((part) => typeof part === "object");
    if (range === undefined) {
      response.send(lorem);
      return;
    }
    response.status(206).set("content-range", `bytes ${range.start}-${range.end}/${lorem.length}`);
    response.send(lorem.slice(range.start, range.end + 1));
  });
  return fromNodeListener(app);
}

async function curl(
  handler: Handler,
  path: string,
  ...options: readonly string[]
): Promise<string> {
  const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
  closers.push(() => server.close({ gracePeriod: 0 }));
  const given = ["--silent", "--show-error", "--max-time", "10", ...options];
  const { stdout } = await run("curl", [...given, new URL(path, server.url).href]);
  return stdout;
}

const stack = [
  recoverer(),
  serverTiming(),
  secure(),
  cors(),
  compress(),
  cacheControl(60, "v1"),
] as const;

describe.skipIf(isMissing).each([
  ["our own handler", () => routes],
  ["an Express application", expressApp],
])("curl, with all layers around %s,", (_name, make) => {
  const handler = (): Handler => wrap(make(), ...stack);

  it("gets the whole body, and the same compressed", async () => {
    expect(await curl(handler(), "/")).toBe(lorem);
    expect(await curl(handler(), "/", "--compressed")).toBe(lorem);
    expect(await curl(handler(), "/", "--compressed", "--http1.0")).toBe(lorem);
  });

  it.each(["gzip", "br", "zstd"])("sees the headers of %s with HEAD", async (coding) => {
    const head = await curl(handler(), "/", "--head", "--header", `Accept-Encoding: ${coding}`);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head).toMatch(new RegExp(`^content-encoding: ${coding}\r$`, "im"));
    expect(head).toMatch(/^etag: W\/"[\da-f]{40}"\r$/im);
    expect(head).toMatch(/^vary: .*accept-encoding/im);
    expect(head).not.toMatch(/^content-length:/im);
    const plain = await curl(handler(), "/", "--head");
    expect(plain).toMatch(new RegExp(`^content-length: ${lorem.length}\r$`, "im"));
    expect(plain).toMatch(/^etag: "[\da-f]{40}"\r$/im);
  });

  it("gets a range of the plain bytes", async () => {
    const response = await curl(handler(), "/", "--range", "6-10", "--compressed", "--include");
    expect(response).toMatch(/^HTTP\/1\.1 206 /);
    expect(response).toMatch(new RegExp(`^content-range: bytes 6-10/${lorem.length}\r$`, "im"));
    expect(response).not.toMatch(/^content-encoding:/im);
    expect(response.endsWith("\r\n\r\nipsum")).toBe(true);
  });

  it("gets 304 for the tag that it has, also the weak one", async () => {
    const url = "/";
    const server = await serve(handler(), { port: 0, hostname: "127.0.0.1", signals: false });
    closers.push(() => server.close({ gracePeriod: 0 }));
    const address = new URL(url, server.url).href;
    const { stdout: head } = await run("curl", ["--silent", "--head", "--compressed", address]);
    const etag = /^etag: (.*)\r$/im.exec(head)?.[1] ?? "";
    expect(etag).toMatch(/^W\//);
    const { stdout } = await run("curl", [
      "--silent",
      "--include",
      "--header",
      `If-None-Match: ${etag}`,
      address,
    ]);
    expect(stdout).toMatch(/^HTTP\/1\.1 304 /);
    expect(stdout.endsWith("\r\n\r\n")).toBe(true);
  });

  it("uploads after 100 Continue, and in chunks", async () => {
    const body = ["--data-binary", lorem];
    const expecting = await curl(
      handler(),
      "/upload",
      ...body,
      "--header",
      "Expect: 100-continue",
      "--include",
    );
    expect(expecting).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(expecting).toMatch(new RegExp(`POST ${lorem.length}$`));
    const chunked = await curl(
      handler(),
      "/upload",
      ...body,
      "--header",
      "Transfer-Encoding: chunked",
    );
    expect(chunked).toBe(`POST ${lorem.length}`);
    const timed = wrap(handler(), timeout(10_000));
    expect(await curl(timed, "/upload", ...body)).toBe(`POST ${lorem.length}`);
  });

  it("receives early hints before the response", async () => {
    const response = await curl(handler(), "/hints", "--include", "--compressed");
    expect(response).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nlink: <\/app\.css>; rel=preload; as=style\r\n\r\nHTTP\/1\.1 200 OK/i,
    );
    expect(response.endsWith(lorem)).toBe(true);
  });
});
