import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { openStore } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished } from "vitest";
import { user } from "../src/api/user/model.ts";
import { jwtSecret, masterKey } from "./api-client.ts";

const projectFolder = path.join(import.meta.dirname, "..");

const entry = path.join(import.meta.dirname, "../src/index.ts");

/** Makes the start fail in a separate way. */
const fault = 'console.log = () => { throw new RangeError("a fault") }';

interface Started {
  readonly child: ChildProcess;
  /** Resolves to the first lines, when the server listens. */
  readonly greeting: Promise<string>;
  /** Resolves when the process has ended. */
  readonly end: Promise<{ readonly code: number | null; readonly errors: string }>;
}

function start(environment: NodeJS.ProcessEnv, workingFolder = process.cwd()): Started {
  const child = spawn(process.execPath, ["--conditions=@fetchwork/source", entry], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      MASTER_KEY: masterKey,
      JWT_SECRET: jwtSecret,
      IP: "127.0.0.1",
      PORT: "0",
      ...environment,
    },
    cwd: workingFolder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const greeting = new Promise<string>((resolve) => {
    let seen = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      seen += chunk;
      if (seen.includes("Ctrl-C")) resolve(seen);
    });
  });
  const errors = text(child.stderr);
  const end = new Promise<number | null>((resolve) => child.once("exit", resolve)).then(
    async (code) => ({ code, errors: await errors }),
  );
  return { child, greeting, end };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "blog-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function temporaryDatabase(): Promise<string> {
  return `sqlite:${path.join(await temporaryFolder(), "nested", "blog.db")}`;
}

/** Makes a store whose first page is whole and whose others are not. */
async function damagedStore(file: string): Promise<void> {
  const store = await openStore(`sqlite:${file}`, { collections: [user.collection] });
  await store.close();
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0xff, 4096));
}

function originOf(greeting: string): string {
  return /http:\/\/[\d.]+:\d+/.exec(greeting)?.[0] ?? "";
}

describe("the blog's process", () => {
  it.each([
    [{ MASTER_KEY: "short" }, "MASTER_KEY needs at least 32 characters"],
    [{ JWT_SECRET: "x".repeat(31) }, "JWT_SECRET needs at least 32 characters"],
    [
      { NODE_ENV: "production", MASTER_KEY: "replace-with-at-least-32-random-characters" },
      "MASTER_KEY still has its example value",
    ],
    [{ JWT_SECRET: masterKey }, "the master key and the JWT secret must differ"],
    [{ PORT: "99999" }, 'PORT must be a whole number from 0 to 65535, got "99999"'],
    [{ PORT: " " }, 'PORT must be a whole number from 0 to 65535, got " "'],
    [{ PORT: "0x50" }, 'PORT must be a whole number from 0 to 65535, got "0x50"'],
    [{ DATABASE_URL: "mongodb://localhost" }, "DATABASE_URL: mongodb: is not supported"],
    [{ DATABASE_URL: "sqlite:" }, 'DATABASE_URL: "sqlite:" takes the path of a file'],
  ])("ends with one line that says what is wrong: %j", async (environment, message) => {
    const { end } = start({ DATABASE_URL: "sqlite::memory:", ...environment });
    const { code, errors } = await end;
    expect(code).toBe(1);
    expect(errors.trim().split("\n")).toHaveLength(1);
    expect(errors).toMatch(/^blog: /);
    expect(errors).toContain(message);
    expect(errors).not.toContain(masterKey);
  });

  it("says that it waits for a database server, without the password", async () => {
    const { child, end } = start({ DATABASE_URL: "postgres://ada:secret@127.0.0.1:1/blog" });
    child.stderr?.once("data", () => child.kill("SIGKILL"));
    const { errors } = await end;
    expect(errors).toBe("blog: waiting for postgres://127.0.0.1:1/blog\n");
  });

  it("says in one line that its port is taken", async () => {
    const first = start({ DATABASE_URL: "sqlite::memory:" });
    const port = new URL(originOf(await first.greeting)).port;
    const { code, errors } = await start({ DATABASE_URL: "sqlite::memory:", PORT: port }).end;
    expect(code).toBe(1);
    expect(errors.trim().split("\n")).toHaveLength(1);
    expect(errors).toContain(`port ${port} of 127.0.0.1 is in use`);
    expect(errors).toContain("set PORT to another");
  });

  it.each([
    ["is not a database", (file: string) => writeFile(file, "no database ".repeat(1000))],
    ["is damaged", damagedStore],
    ["is a folder", (file: string) => mkdir(file)],
  ])("names the file in one line when it %s", async (_, make) => {
    const folder = await temporaryFolder();
    const file = path.join(folder, "blog.db");
    await make(file);
    const { code, errors } = await start({ DATABASE_URL: `sqlite:${file}` }).end;
    expect(code).toBe(1);
    expect(errors.trim().split("\n")).toHaveLength(1);
    expect(errors).toMatch(/^blog: DATABASE_URL: /);
    expect(errors.split(file)).toHaveLength(2);
  });

  it("listens on an IPv6 address, at the URL that it prints", async () => {
    const { greeting } = start({ DATABASE_URL: "sqlite::memory:", IP: "::1" });
    const [url = ""] = /http:\S+\/articles(?= )/.exec(await greeting) ?? [];
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+\//);
    expect((await fetch(url)).status).toBe(200);
  });

  it("prints what to try next, and never its secrets", async () => {
    const { greeting } = start({ DATABASE_URL: "sqlite::memory:" });
    const lines = await greeting;
    expect(lines.match(/^ {2}(?:\w+=\$\()?curl /gm)).toHaveLength(4);
    expect(lines).not.toContain(masterKey);
    expect(lines).not.toContain(jwtSecret);
    expect(lines).toContain("\nKeys: from the environment\n");
    expect(lines).not.toContain(".env");
  });

  it("keeps a relative path of its documents in its folder, and prints where", async () => {
    const folder = await temporaryFolder();
    const relative = path.relative(projectFolder, path.join(folder, "blog.db"));
    const { greeting } = start({ DATABASE_URL: `sqlite:${relative}` }, folder);
    expect(await greeting).toContain(`\nDocuments: sqlite:${path.join(folder, "blog.db")}\n`);
    expect(await readdir(folder)).toContain("blog.db");
  });

  it("prints the stack of an error that nobody expects", async () => {
    const { end } = start({
      DATABASE_URL: await temporaryDatabase(),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
    });
    const { code, errors } = await end;
    expect(code).toBe(1);
    expect(errors).toMatch(/^blog: RangeError: a fault\n {4}at /);
  });

  it("goes on when nobody reads its log any longer", async () => {
    const { child, greeting } = start({ DATABASE_URL: "sqlite::memory:", LOG: "spec" });
    const origin = originOf(await greeting);
    child.stdout?.destroy();
    for (let request = 0; request < 20; request += 1) {
      expect((await fetch(`${origin}/articles`)).status).toBe(200);
    }
  });

  it("ends with 0 on SIGTERM, and finds its documents again", async () => {
    const DATABASE_URL = await temporaryDatabase();
    const form = { email: "a@example.com", password: "123456", access_token: masterKey };
    const createUser = async (origin: string): Promise<number> =>
      (await fetch(`${origin}/users`, { method: "POST", body: new URLSearchParams(form) })).status;

    const first = start({ DATABASE_URL });
    expect(await createUser(originOf(await first.greeting))).toBe(201);
    first.child.kill("SIGTERM");
    expect((await first.end).code).toBe(0);

    const second = start({ DATABASE_URL });
    expect(await createUser(originOf(await second.greeting))).toBe(409);
  });

  it("keeps every article that it acknowledged before it was killed", async () => {
    const DATABASE_URL = await temporaryDatabase();
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { child, greeting, end } = start({ DATABASE_URL });
      const origin = originOf(await greeting);
      const token = await signIn(origin);
      const writers = Array.from({ length: 8 }, () =>
        writeUntilItBreaks(origin, token, acknowledged),
      );
      await expect.poll(() => acknowledged.length).toBeGreaterThan((round + 1) * 40);
      child.kill("SIGKILL");
      await Promise.all(writers);
      await end;
    }
    const origin = originOf(await start({ DATABASE_URL }).greeting);
    for (const id of acknowledged) {
      const response = await fetch(`${origin}/articles/${id}`);
      expect(await response.json()).toMatchObject({ id, title: "kept" });
    }
  });
});

async function signIn(origin: string): Promise<string> {
  const form = { email: "a@example.com", password: "123456", access_token: masterKey };
  await fetch(`${origin}/users`, { method: "POST", body: new URLSearchParams(form) });
  const response = await fetch(`${origin}/auth`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa("a@example.com:123456")}` },
    body: new URLSearchParams({ access_token: masterKey }),
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}

async function writeUntilItBreaks(origin: string, token: string, ids: string[]): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(`${origin}/articles`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ title: "kept" }),
      });
      const { id } = (await response.json()) as { id: string };
      ids.push(id);
    } catch {
      return; // The server is gone.
    }
  }
}
