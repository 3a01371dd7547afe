import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fetchwork, program, project, sharedModules, temporaryFolder } from "./project-world.ts";
import { freePort } from "../../../../test/free-port.ts";

const root = join(import.meta.dirname, "../../../..");
const command = join(root, "packages/fetchwork/bin/fetchwork.mjs");

async function projectWithNotes(): Promise<string> {
  const folder = await project();
  const added = await fetchwork(folder, "add", "note", "text:string!:search,sort");
  expect(added).toMatchObject({ code: 0, stderr: "" });
  return folder;
}

function npmRun(folder: string, script: string, env: NodeJS.ProcessEnv = {}) {
  return program(folder, ["npm", "run", "--silent", script], env);
}

/** Starts a script that serves; it ends with the test. */
async function serving(
  folder: string,
  script: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly child: ChildProcess; readonly origin: string; output(): string }> {
  const port = await freePort();
  const { CI: _ci, NODE_ENV: _mode, ...inherited } = process.env;
  const child = spawn("npm", ["run", "--silent", script], {
    cwd: folder,
    env: { ...inherited, IP: "127.0.0.1", PORT: String(port), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // Each script tells the server that it has started; what is killed would leave it behind.
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    // What is closed last is the output of the server.
    const end = once(child, "close");
    process.kill(-child.pid, "SIGTERM");
    await end;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  }
  return { child, origin: `http://127.0.0.1:${port}`, output: () => output };
}

/** Waits until an address answers with a status. */
async function answers(url: string, timeout = 30_000): Promise<void> {
  const status = (): Promise<number> =>
    fetch(url).then(
      (response) => response.status,
      () => 0,
    );
  await expect.poll(status, { timeout, interval: 10 }).toBe(200);
}

describe("a new project that everyone may sign up to", () => {
  beforeAll(() => sharedModules(), 300_000);

  it("prints lines that work as pasted, without a master key", { timeout: 120_000 }, async () => {
    const folder = await project("--sign-up", "public");
    await fetchwork(folder, "add", "note", "text:string!:search,sort");
    const { origin, output } = await serving(folder, "dev");
    await expect.poll(output, { timeout: 30_000 }).toContain("Ctrl-C");
    const lines = output().match(/^ {2}\S.*$/gm) ?? [];
    expect(lines).toHaveLength(6);
    expect(output()).not.toContain("MASTER_KEY");
    const shell = spawn("sh", { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    onTestFinished(() => void shell.kill("SIGKILL"));
    let printed = "";
    shell.stdout.setEncoding("utf8").on("data", (text: string) => void (printed += text));
    shell.stdin.write(`${lines.slice(0, 2).join("\n")}\n`);
    const link = /http:\S+\/email-changes\/[\w-]{43}/;
    await expect.poll(output, { timeout: 30_000 }).toMatch(link);
    shell.stdin.end(`${link.exec(output())?.[0]}\n${lines.slice(2).join("\n")}\n`);
    await once(shell, "close");
    expect(printed).toContain('"email":"ada@example.com"');
    expect(printed.trim().split("\n").at(-1)).toMatch(/^\[\{.*"text":"Some text"\}\]$/);
    expect((await fetch(`${origin}/users/me`)).status).toBe(401);
  });

  it("warns in production that no mail confirms an address", { timeout: 120_000 }, async () => {
    const folder = await project("--sign-up", "public");
    const { origin, output } = await serving(folder, "prod");
    await answers(`${origin}/health`);
    await expect.poll(output).toContain("SMTP_URL is not set: everyone may sign up");
    expect(output().match(/"level":"warn"/g)).toHaveLength(1);
  });
});

describe("a script of a new project", () => {
  beforeAll(() => sharedModules(), 300_000);

  it("the script coverage writes an HTML report", { timeout: 240_000 }, async () => {
    const folder = await projectWithNotes();
    const { code, output } = await npmRun(folder, "coverage");
    expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
    const report = await readFile(join(folder, "coverage/index.html"), "utf8");
    expect(report).toContain("All files");
    expect(report).toContain("src/api/note");
    const [, statements = "0"] = /class="strong">([\d.]+)% <\/span>/.exec(report) ?? [];
    expect(Number(statements)).toBeGreaterThan(60);
    const pages = await readdir(join(folder, "coverage/src/api/note"));
    expect(pages).toContain("controller.ts.html");
    // It is nothing that Git has to keep.
    expect(await readFile(join(folder, ".gitignore"), "utf8")).toMatch(/^\/?coverage\/?$/m);
  });

  it(
    "lint says nothing of what is right, and names what is wrong",
    { timeout: 240_000 },
    async () => {
      const folder = await projectWithNotes();
      expect(await npmRun(folder, "lint")).toMatchObject({ code: 0 });
      const file = join(folder, "src/api/note/controller.ts");
      const text = await readFile(file, "utf8");
      await writeFile(file, `${text}\nconst one: number = "1";\n`);
      const typed = await npmRun(folder, "lint");
      expect(typed.code).not.toBe(0);
      expect(typed.output).toMatch(/src\/api\/note\/controller\.ts.*TS2322/);
      await writeFile(file, `${text}\nif (noteController) debugger;\n`);
      const linted = await npmRun(folder, "lint");
      expect(linted.code).not.toBe(0);
      expect(linted.output).toContain("debugger");
    },
  );

  it("the script docs writes the reference as static files", { timeout: 60_000 }, async () => {
    const folder = await projectWithNotes();
    expect(await npmRun(folder, "docs")).toMatchObject({ code: 0 });
    const page = await readFile(join(folder, "docs/index.html"), "utf8");
    expect(page).not.toMatch(/(?:src|href)="https?:/);
    const files = await readdir(join(folder, "docs"));
    for (const [, name = ""] of page.matchAll(/(?:src|href)="\.?\/?([\w.-]+)"/g)) {
      expect(files).toContain(name);
    }
    const all = await Promise.all(
      files
        .filter((name) => /\.(?:html|json|js)$/.test(name))
        .map((name) => readFile(join(folder, "docs", name), "utf8")),
    );
    expect(all.join("")).toContain("createNote");
  });

  it(
    "prod serves with secrets from outside, logs JSON, and leaves nothing when npm is stopped",
    { timeout: 120_000 },
    async () => {
      const folder = await projectWithNotes();
      await rename(join(folder, ".env"), join(folder, ".env.kept"));
      const refused = await npmRun(folder, "prod", { PORT: "0", MASTER_KEY: "", JWT_SECRET: "" });
      expect(refused.code).toBe(1);
      expect(refused.output).toMatch(/MASTER_KEY is not set.*\n.*JWT_SECRET is not set/);
      expect(refused.output).not.toContain("    at ");

      const { child, origin, output } = await serving(folder, "prod", {
        MASTER_KEY: "0123456789abcdef0123456789abcdeX",
        JWT_SECRET: "fedcba9876543210fedcba9876543210Y",
        DATABASE_URL: `sqlite:${join(folder, "prod.db")}`,
      });
      await answers(`${origin}/notes`);
      const end = once(child, "close");
      child.kill("SIGTERM");
      await end;
      await expect(fetch(`${origin}/notes`)).rejects.toThrow("fetch failed");
      const lines = output()
        .split("\n")
        .filter((line) => line.startsWith("{"));
      const urls = lines.map((line) => JSON.stringify(JSON.parse(line)));
      expect(urls.some((line) => line.includes("/notes"))).toBe(true);
      expect(output()).not.toContain("0123456789abcdef");
    },
  );

  it(
    "the script dev serves a change and an added resource without a restart by hand",
    { timeout: 180_000 },
    async () => {
      const folder = await projectWithNotes();
      const { origin } = await serving(folder, "dev", { DATABASE_URL: "sqlite::memory:" });
      await answers(`${origin}/notes`);
      const about = join(folder, "src/app.ts");
      const text = await readFile(about, "utf8");
      const title = /title: "([^"]+)"/.exec(text)?.[1] ?? "none";
      await writeFile(about, text.replace(`"${title}"`, '"Changed"'));
      const reference = (): Promise<string> =>
        fetch(`${origin}/openapi.json`).then(
          (response) => response.text(),
          () => "",
        );
      await expect.poll(reference, { timeout: 30_000 }).toContain('"title":"Changed"');

      const add = ["node_modules/fetchwork/bin/fetchwork.mjs", "add", "thing", "text:string!"];
      expect(await program(folder, [process.execPath, ...add])).toMatchObject({ code: 0 });
      await answers(`${origin}/things`);
    },
  );

  it(
    "the script dev responds in a project that `fetchwork new` installed",
    { timeout: 180_000 },
    async () => {
      const folder = join(await temporaryFolder(), "shop");
      const made = await program(root, [
        process.execPath,
        command,
        "new",
        folder,
        "--yes",
        "--skip-git",
      ]);
      expect([made.code, made.code === 0 ? "" : made.output]).toEqual([0, ""]);
      const { origin } = await serving(folder, "dev");
      await answers(`${origin}/ping`);
    },
  );
});
