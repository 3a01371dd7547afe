import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { codeBlocks } from "../scripts/markdown.ts";
import { freePort } from "./free-port.ts";
import { answers, copyCommitted, pasted, startDev } from "./pasted.ts";

const root = join(import.meta.dirname, "..");
/** The server of the page has a separate Node that is recent enough. */
const PATH = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
let folder = "";
let project = "";

async function pageOf(name: string): Promise<string> {
  return readFile(join(root, `docs/${name}.md`), "utf8");
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "guides-")));
  project = join(folder, "my-api");
  const [make = ""] = codeBlocks(await pageOf("own-routes"), "sh");
  await pasted(make.replaceAll("../my-api", project), root);
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the first screen of the README", () => {
  it("makes a project whose start prints the lines that lead to what it shows", async () => {
    const readme = await readFile(join(root, "README.md"), "utf8");
    const [commands = ""] = codeBlocks(readme, "sh");
    const [make = ""] = codeBlocks(await pageOf("own-routes"), "sh");
    expect(commands.trim()).toBe(`${make.trim()}\nnpm run dev`);

    const origin = `http://localhost:${await freePort()}`;
    const dev = startDev(project, origin);
    await answers(`${origin}/notes`);
    await expect.poll(dev.output, { timeout: 20_000 }).toContain("Ctrl-C");
    const lines = dev.output().match(/^ {2}\S.*$/gm) ?? [];
    const responses = (await pasted(lines.join("\n"), project)).trim().split("\n");

    const [, asked = "", shown = ""] =
      /^```console\n\$ (.*)\n(.*)\n```$/m.exec(readme) ?? expect.fail("no response");
    const withoutIds = (text: string): string => text.replaceAll(/"id":"[^"]+"/g, '"id":""');
    expect(lines.at(-1)?.replace(/http:\/\/[^/]+/, "http://localhost:9000")).toContain(
      asked.replace("curl ", ""),
    );
    expect(withoutIds(responses.at(-1) ?? "")).toBe(withoutIds(shown));
  });
});

describe("the pages about a route of one's own and about testing", () => {
  it("work as pasted into a new project", { timeout: 240_000 }, async () => {
    const pages = [await pageOf("own-routes"), await pageOf("testing")].join("\n");
    const files = codeBlocks(pages, "ts");
    expect(files).toHaveLength(7);
    for (const text of files) {
      const [, file = expect.fail(text)] = /^\/\/ (src\/\S+)\n/.exec(text) ?? [];
      await mkdir(dirname(join(project, file)), { recursive: true });
      await writeFile(join(project, file), text);
    }
    await pasted("npm run lint", project);
    const [test = ""] = codeBlocks(await pageOf("testing"), "sh");
    expect(await pasted(test, project)).toMatch(/1 passed/);
    await pasted("npm test", project);
  });
});

describe("the page about many customers", () => {
  it("has a service whose test, as pasted, passes", { timeout: 240_000 }, async () => {
    const [app = "", test = ""] = codeBlocks(await pageOf("many-customers"), "ts");
    const helpDesk = join(project, "src/help-desk");
    await mkdir(helpDesk);
    await writeFile(join(helpDesk, "app.ts"), app);
    await writeFile(join(helpDesk, "tenants.test.ts"), test);
    expect(await pasted("npm test -- src/help-desk", project)).toMatch(/1 passed/);
    await rm(helpDesk, { recursive: true });
  });
});

describe("the page about deploying", () => {
  it("works as pasted, but for what needs root or Docker", { timeout: 300_000 }, async () => {
    const port = await freePort();
    const proxies = { caddy: await freePort(), nginx: await freePort() };
    const [service, data, backups] = ["srv", "data", "backups"].map((name) => join(folder, name));
    if (!service || !data || !backups) return;
    await mkdir(data);
    await mkdir(backups);
    const settings = join(folder, "my-api.env");
    const text = (await pageOf("deploy"))
      .replaceAll("/etc/my-api.env", settings)
      .replaceAll("/srv/my-api", service)
      .replaceAll("/var/lib/my-api", data)
      .replaceAll("/var/backups/my-api", backups)
      .replaceAll("9000", String(port));

    await copyCommitted(project, service);
    const [, install = ""] = /^(npm ci .*)$/m.exec(text) ?? [];
    await pasted(install, service, { PATH });
    expect(existsSync(join(service, "node_modules/vitest"))).toBe(false);
    expect(existsSync(join(service, "node_modules/node"))).toBe(false);
    const [makeSettings = "", drill = ""] = codeBlocks(text, "sh");
    await pasted(makeSettings, folder);

    const [unit = ""] = codeBlocks(text, "ini");
    const [, command = ""] = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit) ?? [];
    const [, mode = ""] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const withSettings = `set -a; . ${settings}; set +a;`;
    const api = start(`${withSettings} exec env ${mode} ${command}`, service);
    await answers(`http://127.0.0.1:${port}/health`);

    for (const [name, proxyPort] of Object.entries(proxies)) {
      if (!isInstalled(name)) {
        if (process.env["CI"] === "true") expect.fail(`${name} is not installed`);
        console.warn(`not tried, because it is not installed: ${name}`);
        continue;
      }
      await startProxy(name, { text, port: proxyPort });
      await answers(`http://127.0.0.1:${proxyPort}/notes`);
      await pasted(
        `curl -fs --interface 127.0.0.2 http://127.0.0.1:${proxyPort}/notes?q=${name}`,
        folder,
      );
      await expect
        .poll(() => addressIn(api.output(), `/notes?q=${name}`), { timeout: 5_000 })
        .toBe("127.0.0.2");
    }

    const [, backup = ""] = /^15 3 \* \* \* my-api (.*)$/m.exec(text) ?? [];
    await pasted(backup.replaceAll(String.raw`\%`, "%"), folder, { PATH });
    expect((await readdir(backups)).join()).toMatch(/^\d{4}-\d\d-\d\d\.jsonl\.gz$/);
    expect(await pasted(drill, service, { PATH })).toContain("collection notes");
    const [, status = ""] = /^sudo -u my-api (.* db status)$/m.exec(text) ?? [];
    expect(await pasted(status, service, { PATH })).toContain("notes");

    api.child.kill("SIGTERM");
    expect(await api.ended).toBe(0);
  });
});

function isInstalled(command: string): boolean {
  return spawnSync("bash", ["-c", `PATH=$PATH:/usr/sbin command -v ${command}`]).status === 0;
}

/** Starts a proxy with the configuration of the page, on a separate port and without TLS. */
async function startProxy(
  name: string,
  { text, port }: { readonly text: string; readonly port: number },
): Promise<void> {
  const file = join(folder, `${name}.conf`);
  if (name === "caddy") {
    const [site = ""] = codeBlocks(text, "caddyfile");
    const address = site.replace("api.example.com", `http://127.0.0.1:${port}`);
    await writeFile(file, `{\n\tadmin off\n}\n${address}`);
    start(`HOME=${folder} exec caddy run --adapter caddyfile --config ${file}`, folder);
    return;
  }
  const [server = ""] = codeBlocks(text, "nginx");
  const plain = server
    .replace(/listen 443 ssl/, `listen 127.0.0.1:${port}`)
    .replace(/^ *ssl_.*\n/gm, "");
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((place) => `${place}_temp_path ${folder}/nginx;`)
    .join(" ");
  await writeFile(
    file,
    `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${places}\n${plain}}\n`,
  );
  start(`PATH=$PATH:/usr/sbin exec nginx -c ${file}`, folder);
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
}

/** Starts a command that goes on until the test ends. */
function start(command: string, cwd: string): Started {
  const { NODE_ENV: _mode, ...env } = process.env;
  const child = spawn("bash", ["-c", command], {
    cwd,
    env: { ...env, PATH },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => void (output += part));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return { child, ended, output: () => output };
}

/** The client's address in the log of a request. */
function addressIn(log: string, url: string): unknown {
  for (const line of log.split("\n")) {
    if (line.includes(`"url":"${url}"`)) return (JSON.parse(line) as { readonly ip?: unknown }).ip;
  }
  return undefined;
}
