import { once } from "node:events";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeDisk } from "../../documents/test/disk.ts";
import { noDiskReason } from "../../documents/test/mount-disk.ts";
import {
  connectionOf,
  kill,
  noPostgres,
  notDurable,
  type PostgresServer,
  runPostgres,
  runSql,
  startPostgres,
} from "../../documents/test/postgres-server.ts";
import { secrets } from "./notes-service.ts";
import { type ServiceProcess, startNotes } from "./service-process.ts";

const mebibyte = 1024 * 1024;
const patience = { timeout: 20_000, interval: 100 };

/** The service of `notes-service.ts` as a process, and an admin who uses it. */
interface Notes {
  readonly process: ServiceProcess;
  /** Resolves to the status, and `Retry-After` where there is one. */
  ask(method: string, path: string, json?: object): Promise<string>;
}

async function openNotes(databaseUrl: string): Promise<Notes> {
  const process = startNotes({ DATABASE_URL: databaseUrl, LOG: "off" });
  const [url] = /http:\/\/[\d.]+:\d+/.exec(await process.linesTo("Ctrl-C stops it.")) ?? [""];
  const user = { email: "ada@example.com", password: "correct horse" };
  const access_token = secrets.MASTER_KEY;
  const post = (target: string, form: Record<string, string>, headers = {}): Promise<Response> =>
    fetch(url + target, { method: "POST", headers, body: new URLSearchParams(form) });
  await post("/users", { ...user, role: "admin", access_token });
  const authorization = `Basic ${btoa(`${user.email}:${user.password}`)}`;
  const signedIn = await post("/auth", { access_token }, { authorization });
  const { token } = Object(await signedIn.json());
  return {
    process,
    async ask(method, target, json) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = json === undefined ? null : JSON.stringify(json);
      const response = await fetch(url + target, { method, headers, body });
      await response.arrayBuffer();
      const wait = response.headers.get("retry-after");
      return `${response.status}${wait === null ? "" : `, again in ${wait}`}`;
    },
  };
}

async function expectOrderlyEnd({ process }: Notes): Promise<void> {
  process.kill("SIGTERM");
  expect({ code: await process.ended, errors: process.errors() }).toMatchObject({ code: 0 });
}

const text = { text: "a note" };
const unreachable = "503, again in 5";
/** The default of the store on PostgreSQL. */
const poolSize = 10;

it.skipIf(noDiskReason !== undefined)(
  "on a full disk changes are a 507 and /health fails, until there is room again",
  { timeout: 60_000 },
  async () => {
    const disk = makeDisk(8 * mebibyte);
    const notes = await openNotes(`sqlite:${path.join(disk, "notes.db")}`);
    const { ask } = notes;
    expect(await ask("GET", "/health")).toBe("200");
    const ballast = path.join(disk, "ballast");
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    const fill = { text: "x".repeat(200) };
    await expect.poll(() => ask("POST", "/notes", fill), { ...patience, interval: 0 }).toBe("507");
    expect(await ask("POST", "/notes", text)).toBe("507");
    expect(await ask("POST", "/tidyings", text)).toBe("507");
    await expect.poll(() => ask("GET", "/health"), patience).toBe("503");
    expect([await ask("GET", "/notes"), await ask("GET", "/ping")]).toEqual(["200", "200"]);
    rmSync(ballast);
    expect(await ask("POST", "/notes", text)).toBe("201");
    await expect.poll(() => ask("GET", "/health"), patience).toBe("200");
    await expectOrderlyEnd(notes);
  },
);

describe.skipIf(noPostgres !== undefined)("on PostgreSQL", () => {
  async function openServer(settings = notDurable): Promise<PostgresServer> {
    const server = await startPostgres(settings);
    onTestFinished(() => server.stop());
    return server;
  }

  it(
    "everything is a 503 with Retry-After while the server is gone, and /health fails, until it is back",
    { timeout: 120_000 },
    async () => {
      // It is killed, not the machine.
      const settings = ["fsync=off"];
      const server = await openServer(settings);
      const notes = await openNotes(await server.create());
      const { ask } = notes;
      expect(await ask("POST", "/notes", text)).toBe("201");
      await kill(server.process);
      const asked = [
        ask("GET", "/notes"),
        ask("POST", "/notes", text),
        ask("POST", "/tidyings", text),
      ];
      expect(await Promise.all(asked)).toEqual([unreachable, unreachable, unreachable]);
      expect([await ask("GET", "/health"), await ask("GET", "/ping")]).toEqual(["503", "200"]);
      const again = await runPostgres(server.folder, settings);
      onTestFinished(() => kill(again.process));
      await expect.poll(() => ask("GET", "/health"), patience).toBe("200");
      expect(await ask("POST", "/notes", text)).toBe("201");
      // The worker of jobs and the reader of changes have found it too.
      expect(await ask("POST", "/tidyings", text)).toBe("202");
      const url = again.url("test1");
      const left = async (): Promise<unknown> => (await runSql(url, "SELECT id FROM notes")).length;
      await expect.poll(left, patience).toBe(0);
      await expectOrderlyEnd(notes);
    },
  );

  it(
    "connections that the server ends are replaced, and at most what ran on them fails",
    { timeout: 60_000 },
    async () => {
      const server = await openServer();
      const notes = await openNotes(await server.create());
      const { ask } = notes;
      const end =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'test1'";
      for (let round = 0; round < 3; round += 1) {
        const load = Array.from({ length: 20 }, () => ask("GET", "/notes"));
        await runSql(server.url("postgres"), end);
        for (const answer of await Promise.all(load))
          expect(["200", unreachable]).toContain(answer);
        expect(await ask("POST", "/notes", text)).toBe("201");
        expect(await ask("GET", "/health")).toBe("200");
      }
      await expectOrderlyEnd(notes);
    },
  );

  it(
    "requests that find all connections busy are a 503 with Retry-After, and served when they are free",
    { timeout: 60_000 },
    async () => {
      const server = await openServer();
      const url = await server.create();
      const notes = await openNotes(url);
      const { ask } = notes;
      const holder = new Client(connectionOf(url));
      await holder.connect();
      onTestFinished(() => holder.end());
      await holder.query("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
      const waiting = Array.from({ length: 40 }, () => ask("GET", "/notes"));
      const locked = "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted";
      const countWaiting = async (): Promise<number> => (await holder.query(locked)).rows[0].count;
      await expect.poll(countWaiting, patience).toBe(poolSize);
      const asked = [ask("GET", "/webhooks"), ask("GET", "/health"), ask("GET", "/ping")];
      expect(await Promise.all(asked)).toEqual([unreachable, "503", "200"]);
      await holder.query("COMMIT");
      for (const answer of await Promise.all(waiting))
        expect(["200", unreachable]).toContain(answer);
      await expect.poll(() => ask("GET", "/health"), patience).toBe("200");
      expect(await ask("GET", "/notes")).toBe("200");
      await expectOrderlyEnd(notes);
    },
  );
});

it("a stop does not wait for a webhook endpoint that hangs", { timeout: 60_000 }, async () => {
  const hanging = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void hanging.close());
  await once(hanging, "listening");
  const { port } = hanging.address() as AddressInfo;
  const notes = await openNotes("sqlite::memory:");
  const called = once(hanging, "connection");
  expect(await notes.ask("POST", "/webhooks", { url: `http://127.0.0.1:${port}/` })).toBe("201");
  expect(await notes.ask("POST", "/notes", text)).toBe("201");
  await called;
  const began = performance.now();
  await expectOrderlyEnd(notes);
  expect(performance.now() - began).toBeLessThan(5_000);
});
