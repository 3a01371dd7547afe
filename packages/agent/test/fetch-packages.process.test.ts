import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { writeArchive } from "../src/server/write-archive.ts";
import { packageScripts } from "../src/verify/commands.ts";
import { nodeTest } from "../src/verify/node-verifiers.ts";
import { createSandbox, type SandboxLevel } from "../src/verify/sandbox.ts";
import { targetOf } from "../src/verify/registry-gate.ts";
import { verifyFiles } from "../src/verify/verify-files.ts";

const { signal } = new AbortController();

/** A package whose install script writes down what it reaches of a server. */
async function tarball(url: string): Promise<Buffer> {
  const install = `fetch(${JSON.stringify(`${url}/reached-by-script`)})
    .then(() => "the network", () => "nothing")
    .then((reached) => require("node:fs").writeFileSync("reached.json", JSON.stringify(reached)));\n`;
  const manifest = {
    name: "greet",
    version: "1.0.0",
    main: "index.js",
    scripts: { install: "node install.js" },
  };
  const files = {
    "package/package.json": JSON.stringify(manifest),
    "package/install.js": install,
    "package/index.js":
      'exports.greet = (name) => `Hello, ${name}!`;\nexports.reached = require("./reached.json");\n',
  };
  const archived = Object.entries(files).map(([path, text]) => {
    const bytes = Buffer.from(text);
    const content = (async function* () {
      yield await Promise.resolve(bytes);
    })();
    return { path, size: bytes.byteLength, time: 0, content };
  });
  return gzipSync(Buffer.concat(await Array.fromAsync(writeArchive(archived))));
}

/** A registry with one package; what else is asked for is noted. */
async function registry() {
  const asked: string[] = [];
  const packed: Buffer[] = [];
  const server = createServer(({ url = "", method }, response) => {
    asked.push(`${method} ${url}`);
    const [bytes = Buffer.alloc(0)] = packed;
    if (url === "/npm/greet/-/greet-1.0.0.tgz") return response.end(bytes);
    if (url !== "/npm/greet") return response.writeHead(404).end();
    const dist = {
      // npm asks the registry that it is told of, whatever the host is here.
      tarball: "https://registry.example/npm/greet/-/greet-1.0.0.tgz",
      integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
    };
    const version = { name: "greet", version: "1.0.0", hasInstallScript: true, dist };
    const versions = { "1.0.0": version };
    response.setHeader("content-type", "application/json");
    return response.end(
      JSON.stringify({ name: "greet", "dist-tags": { latest: "1.0.0" }, versions }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  packed.push(await tarball(origin));
  return { asked, origin, url: `${origin}/npm/` };
}

const program = (test: string, dependencies: object = { greet: "^1.0.0" }) =>
  new Map([
    ["package.json", JSON.stringify({ name: "program", version: "1.0.0", dependencies })],
    ["test/greet.test.js", test],
  ]);

const greets = `const { test } = require("node:test");
const assert = require("node:assert");
const { greet, reached } = require("greet");
test("greets", () => assert.equal(greet("you"), "Hello, you!"));
test("its script reached", () => assert.equal(reached, "nothing"));
`;

async function faultsOf(
  files: ReadonlyMap<string, string>,
  options: { readonly registry?: string; readonly level?: SandboxLevel; readonly from?: string },
): Promise<readonly string[]> {
  const { from, ...rest } = options;
  const sandbox = await createSandbox(rest);
  const run = { verifiers: [nodeTest(), packageScripts()], sandbox, signal, from };
  return (await verifyFiles(files, undefined, run)).map(({ message }) => message);
}

const before = process.env["TMPDIR"];
const temporary = mkdtempSync(join(tmpdir(), "fetch-packages-"));
beforeAll(() => {
  // What a process fetched is removed when it ends, and this one ends otherwise.
  process.env["TMPDIR"] = temporary;
  chmodSync(temporary, 0o755);
});
afterAll(() => {
  if (before === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = before;
  rmSync(temporary, { recursive: true, force: true });
});

describe("packages that a program needs and its folder does not have", { timeout: 60_000 }, () => {
  it("are fetched from the registry alone, and their scripts run without network", async () => {
    const { asked, url } = await registry();
    expect(await faultsOf(program(greets), { registry: url })).toEqual([]);
    // Once, however often the program is checked.
    expect(await faultsOf(program(greets), { registry: url })).toEqual([]);
    expect(asked).toEqual(["GET /npm/greet", "GET /npm/greet/-/greet-1.0.0.tgz"]);
  });

  it("are not fetched from other servers, or from other paths of the registry's", async () => {
    const [{ asked, url }, other] = [await registry(), await registry()];
    const wanted = { greet: `${other.origin}/greet.tgz` };
    const found = await faultsOf(program(greets, wanted), { registry: url });
    expect(found.join("\n")).toContain("greet");
    expect([asked, other.asked]).toEqual([[], []]);
  });

  it("are not fetched without a registry", async () => {
    const { asked } = await registry();
    expect((await faultsOf(program(greets), {})).join("\n")).toContain("greet");
    expect(asked).toEqual([]);
  });

  it("are fetched for an edit that adds one to those that are installed", async () => {
    const { url } = await registry();
    const from = mkdtempSync(join(tmpdir(), "packages-"));
    onTestFinished(() => rmSync(from, { recursive: true }));
    writeFileSync(join(from, "package.json"), '{ "name": "program", "dependencies": {} }');
    mkdirSync(join(from, "node_modules"));
    expect(await faultsOf(program(greets), { registry: url, from })).toEqual([]);
  });

  it("are those that are installed where package.json asks for no others", async () => {
    const { asked, url } = await registry();
    const from = mkdtempSync(join(tmpdir(), "packages-"));
    onTestFinished(() => rmSync(from, { recursive: true }));
    const files = program(greets.replace("Hello", "Good day"));
    writeFileSync(join(from, "package.json"), files.get("package.json") ?? "");
    mkdirSync(join(from, "node_modules/greet"), { recursive: true });
    const installed = 'exports.greet = () => "Good day, you!";\nexports.reached = "nothing";\n';
    writeFileSync(join(from, "node_modules/greet/index.js"), installed);
    expect(await faultsOf(files, { registry: url, from })).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("are not waited for when the run is canceled, and npm is ended", async () => {
    const canceled = new AbortController();
    const hanging = createServer(() => canceled.abort()).listen(0, "127.0.0.1");
    await once(hanging, "listening");
    onTestFinished(() => {
      hanging.close().closeAllConnections();
    });
    const { port } = hanging.address() as AddressInfo;
    const sandbox = await createSandbox({ registry: `http://127.0.0.1:${port}/` });
    const there = new Set(readdirSync(temporary));
    const from = performance.now();
    const run = { verifiers: [nodeTest()], sandbox, signal: canceled.signal };
    await expect(verifyFiles(program(greets), undefined, run)).rejects.toMatchObject({
      code: "ERR_AGENT_CANCELLED",
    });
    expect(performance.now() - from).toBeLessThan(20_000);
    const left = (): readonly string[] => readdirSync(temporary).filter((one) => !there.has(one));
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  });

  it("are fetched without the sandbox, too, where it is not wanted", async () => {
    const { url } = await registry();
    const files = program(greets.replace('"nothing"', '"the network"'));
    expect(await faultsOf(files, { registry: url, level: "process" })).toEqual([]);
  });
});

it.each(["ftp://registry.example/", "https://me:secret@registry.example/", "registry"])(
  "a registry cannot be %s, which no message says",
  async (url) => {
    const refused = createSandbox({ registry: url });
    await expect(refused).rejects.toMatchObject({ code: "ERR_AGENT_OPTION" });
    await expect(refused).rejects.not.toThrow(/secret/);
  },
);

describe("the gate to a registry", () => {
  it("leads to nothing but the registry", () => {
    const hostile = fc.constantFrom(
      "/../x",
      "/npm/%2e%2e/x",
      "//x/y",
      "/npm/./",
      "/npm/../../y",
      "/npm/@x/",
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webPath(), hostile), (path) => {
        const target = targetOf("https://registry.example/npm", path);
        if (target === undefined) return;
        expect(new URL(target).origin).toBe("https://registry.example");
        expect(new URL(target).pathname).toMatch(/^\/npm\//);
      }),
    );
  });

  it.each([
    "//evil.example/x",
    "http://evil.example/x",
    "/npm/../admin",
    "/npm/%2e%2e/admin",
    "/\\evil.example",
    "/npm/..%2fadmin",
    "/npm/a/%2E%2e%2F..%5cadmin",
    "/npm/..;/admin",
  ])("refuses %s", (path) => {
    expect(targetOf("https://registry.example/npm/", path)).toBeUndefined();
  });

  it("passes names with a scope as npm writes them", () => {
    expect(targetOf("https://registry.example/npm", "/npm/@scope%2fname")).toBe(
      "https://registry.example/npm/@scope%2fname",
    );
  });
});
