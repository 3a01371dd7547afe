import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  close,
  json,
  listen,
  startScriptedServer,
  type ScriptedServer,
} from "../../packages/oauth2/test/scripted-server.ts";
import {
  programDeliveries,
  programJournal,
} from "../../packages/webhooks/test/github/octokit-deliveries.ts";
import { readText } from "../../scripts/workspace-packages.ts";
import { importBlock, importText } from "./page-block.ts";

// The code before a move, with the original packages, does what the records say that the tests of
// the code after it compare with. The packages have a separate lock file.
const originals = join(import.meta.dirname, "originals");
const isInstalled = existsSync(join(originals, "node_modules/express/package.json"));

it("this machine has the originals", ({ skip }) => {
  skip(!isInstalled && !process.env["CI"], "`npm ci` was not run in test/moving/originals/");
  expect(isInstalled).toBe(true);
});

async function record<Content>(name: string): Promise<Content> {
  const text = await readFile(join(import.meta.dirname, `records/${name}.json`), "utf8");
  return JSON.parse(text) as Content;
}

function importBefore<Exports>(
  page: string,
  replacements: Readonly<Record<string, string>> = {},
): Promise<Exports> {
  return importBlock<Exports>(page, "js", replacements, originals);
}

async function serveHere(server: Server): Promise<string> {
  onTestFinished(() => close(server));
  return listen(server);
}

async function startIdentityProvider(): Promise<ScriptedServer> {
  const token = { access_token: "at", refresh_token: "rt", token_type: "bearer", expires_in: 3600 };
  const server = await startScriptedServer("BASE", [], json(token));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe.skipIf(!isInstalled)("the code before the move", () => {
  it("of from-express.md responds as its record says", async () => {
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
    const folder = await mkdtemp(join(tmpdir(), "before-express-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const files = join(folder, "public");
    await mkdir(files);
    await writeFile(join(files, "index.html"), "<!doctype html><title>Hello</title>\n");
    await writeFile(join(files, ".env"), "secret");
    vi.stubEnv("NODE_ENV", "production");
    const lines: string[] = [];
    vi.stubGlobal("beforeExpress", { write: (line: string) => lines.push(line) });
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.unstubAllGlobals();
    });
    const { app } = await importBefore<{ app: RequestListener }>("from-express.md", {
      '"public"': JSON.stringify(files),
      'morgan("combined")': 'morgan("combined", { stream: beforeExpress })',
    });
    const origin = await serveHere(createServer(app));

    const exchanges = await record<readonly Exchange[]>("express");
    for (const { request, response } of exchanges) {
      const { name, method, path, headers, body = null } = request;
      const responded = await fetch(origin + path, { method, headers, body });
      const seen = {
        status: responded.status,
        headers: Object.fromEntries(responded.headers),
        body: await responded.text(),
      };
      expect({ name, ...seen }).toMatchObject({ name, ...response });
    }
    expect(lines).toHaveLength(exchanges.length);
    expect(lines[0]).toMatch(/^127\.0\.0\.1 - - \[.+\] "GET \/users\/1 HTTP\/1\.1" 200 23 "-"/);
  });

  it("of a program for @octokit/webhooks does what its test says that it did", async () => {
    const program = "packages/webhooks/test/github/octokit-program.ts";
    const replacements = { "@fetchwork/webhooks/github": "@octokit/webhooks" };
    const { journal, startServer } = await importText<{
      journal: readonly string[];
      startServer: (secret: string) => { readonly server: Server };
    }>(program, readText(program), replacements, originals);
    const secret = "It's a Secret to Everybody";
    const origin = await serveHere(startServer(secret).server);
    for (const [name, payload, status] of programDeliveries) {
      const body = JSON.stringify(payload);
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      const headers = {
        "content-type": "application/json",
        "x-github-event": name,
        "x-github-delivery": "d-1",
        "x-hub-signature-256": `sha256=${signature}`,
      };
      const url = `${origin}/api/github/webhooks`;
      const response = await fetch(url, { method: "POST", headers, body });
      expect([await response.text(), response.status]).toEqual([expect.anything(), status]);
    }
    expect(journal).toEqual(programJournal);
  });

  it("of from-octokit-endpoint.md builds what its record says", async () => {
    const octokit = pathToFileURL(
      join(originals, "node_modules/@octokit/endpoint/dist-bundle/index.js"),
    );
    const { endpoint } = (await import(octokit.href)) as {
      endpoint: (route: string, options: object) => { headers: Record<string, string> };
    };
    interface Call {
      readonly name: string;
      readonly route: string;
      readonly options: object;
      readonly result: object;
    }
    for (const { name, route, options, result } of await record<readonly Call[]>(
      "octokit-endpoint",
    )) {
      const { headers, ...rest } = endpoint(route, options);
      const { "user-agent": _agent, ...others } = headers;
      expect({ name, ...rest, headers: others }).toEqual({ name, ...result });
    }
    const page = "from-octokit-endpoint.md";
    const before = await importBefore<object>(page);
    const after = await importBlock<object>(page, "ts");
    expect({ ...before }).toEqual({ ...after });
  });

  it("of from-openapi-fetch.md sends and prints what its record says", async () => {
    interface Arrived {
      readonly method: string | undefined;
      readonly path: string | undefined;
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: string;
    }
    const arrived: Arrived[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => void (body += part));
      request.on("end", () => {
        const { authorization, accept, "content-type": type } = request.headers;
        const headers = { authorization, accept, ...(type && { "content-type": type }) };
        arrived.push({ method: request.method, path: request.url, headers, body });
        const { title } = (body === "" ? { title: "Hello" } : JSON.parse(body)) as {
          title: string;
        };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ id: "123", title }));
      });
    });
    const origin = await serveHere(server);
    const printed = vi.spyOn(console, "log").mockReturnValue();
    await importBefore("from-openapi-fetch.md", { "https://blog.example.com": origin });
    const lines = printed.mock.calls;
    printed.mockRestore();
    expect({ arrived, lines }).toEqual(await record("openapi-fetch"));
  });

  it("of from-oauth2-gem.md sends what its record says", async () => {
    const server = await startIdentityProvider();
    interface Before {
      readonly url: string;
      exchange(code: string): Promise<{ readonly token: object }>;
    }
    const { url, exchange } = await importBefore<Before>("from-oauth2-gem.md", {
      "https://id.example.com": server.origin,
    });
    interface Record {
      readonly simpleOAuth2: {
        readonly authorizeUrl: string;
        readonly requests: { readonly code: { readonly target: string; readonly body: string } };
      };
    }
    const { simpleOAuth2 } = await record<Record>("oauth2-clients");
    const recorded = simpleOAuth2.authorizeUrl.replace("my+id", "my-id");
    expect(url.replace(server.origin, "")).toBe(recorded);
    const { token } = await exchange("the code");
    expect(token).toMatchObject({ access_token: "at", refresh_token: "rt" });
    const { target, body } = simpleOAuth2.requests.code;
    expect(server.seen.at(-1)).toMatchObject({ target, body });
  });
});
