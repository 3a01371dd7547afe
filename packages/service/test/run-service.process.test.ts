import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { openStore } from "@fetchwork/documents";
import { createJobs } from "@fetchwork/documents/jobs";
import { describe, expect, it, onTestFinished } from "vitest";
import { pasted } from "../../../test/pasted.ts";
import { app, note, secrets, tidy } from "./notes-service.ts";
import { makeProject, notesProject, startProject } from "./service-process.ts";

const greeted = "Ctrl-C stops it.";
const memory = { ...secrets, DATABASE_URL: "sqlite::memory:" };

/** A service whose request and job wait until the file `go` is there, and then say so. */
const slowProject = `import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { json } from "@fetchwork/http";
import { defineRoute } from "@fetchwork/rest";
import { backgroundJob, defineConfig, defineService, runService, serverSettings } from "@fetchwork/service";

async function untilGo() {
  while (!existsSync("go")) await pause(10);
}
const slow = backgroundJob({
  name: "slow",
  async run() {
    console.log("job begins");
    await untilGo();
    console.log("job ends");
  },
});
const wait = defineRoute({
  method: "POST",
  path: "/waits",
  operation: "wait",
  summary: "Wait",
  tag: "waits",
  access: "public",
  responses: { 200: { description: "Waited" } },
  async handle({ jobs }) {
    await jobs.add(slow, undefined);
    console.log("request begins");
    await untilGo();
    return json({ waited: true });
  },
});
await runService(
  defineService({ name: "slow", config: defineConfig({ ...serverSettings }), routes: [wait], jobs: [slow] }),
);
`;

function urlIn(text: string): string {
  return /http:\/\/[\d.]+:\d+/.exec(text)?.[0] ?? "";
}

describe("runService", () => {
  it("makes .env for its owner alone, and greets with lines that work as pasted", async () => {
    const folder = makeProject(notesProject);
    const service = startProject(folder, {});
    const greeting = await service.linesTo(greeted);
    expect(statSync(path.join(folder, ".env")).mode & 0o777).toBe(0o600);
    expect(greeting).toContain("Notes API on http://127.0.0.1:");
    expect(greeting).toContain("Keys: .env\n");
    expect(greeting).toContain(`Documents: sqlite:${path.join(folder, "data/notes.db")}`);
    const lines = greeting.match(/^ {2}\S.*$/gm)?.join("\n") ?? "";
    const output = await pasted(lines, folder);
    expect(output).toContain('"email":"ada@example.com"');
    const found = output.trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(found)).toMatchObject([{ text: "Some text" }]);
    expect(existsSync(path.join(folder, "data/notes.db"))).toBe(true);
    service.kill("SIGINT");
    expect(await service.ended).toBe(0);
  });

  it("takes the folder of the project wherever it is started, and keeps its .env", async () => {
    const folder = makeProject(notesProject);
    const keys = `MASTER_KEY=${"k".repeat(32)}\nJWT_SECRET=${"l".repeat(32)}\n`;
    writeFileSync(path.join(folder, ".env"), keys);
    const service = startProject(folder, {}, "/");
    expect(await service.linesTo(greeted)).toContain(path.join(folder, "data/notes.db"));
    expect(readFileSync(path.join(folder, ".env"), "utf8")).toBe(keys);
  });

  it("says in one line which port is in use", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const service = startProject(makeProject(notesProject), { ...memory, PORT: String(port) });
    expect(await service.ended).toBe(1);
    expect(service.errors()).toMatch(/^notes: .*; set PORT to another\n$/);
    expect(service.errors()).toContain(String(port));
  });

  it("tells all wrong settings at once, each on a line, and no secret", async () => {
    const wrong = { MASTER_KEY: "too-short", PORT: "x", LOG: "xml" };
    const service = startProject(makeProject(notesProject), { NODE_ENV: "production", ...wrong });
    expect(await service.ended).toBe(1);
    expect(service.errors().trim().split("\n")).toEqual([
      'notes: MASTER_KEY needs at least 32 characters: set it to the output of "openssl rand -hex 32"',
      'notes: PORT must be a whole number from 0 to 65535, got "x"',
      'notes: LOG must be spec, json or off, got "xml"',
      'notes: JWT_SECRET is not set: set it to the output of "openssl rand -hex 32"',
    ]);
  });

  it("says in one line that a database cannot be opened", async () => {
    const environment = { ...secrets, DATABASE_URL: "sqlite:/dev/null/notes.db" };
    const service = startProject(makeProject(notesProject), environment);
    expect(await service.ended).toBe(1);
    expect(service.errors()).toMatch(/^notes: DATABASE_URL: cannot open \/dev\/null\/.*\n$/);
  });

  it.each(["SIGTERM", "SIGHUP"] as const)(
    "ends what it has begun after %s, requests and jobs, and takes nothing more",
    async (signal) => {
      const folder = makeProject(slowProject);
      const service = startProject(folder, { ...memory, LOG: "off" });
      const url = urlIn(await service.linesTo(greeted));
      const waiting = fetch(`${url}/waits`, { method: "POST" });
      const begun = [await service.line(), await service.line()];
      expect(begun.toSorted()).toEqual(["job begins", "request begins"]);
      service.kill(signal);
      const isRefused = () =>
        fetch(`${url}/ping`, { headers: { connection: "close" } }).then(
          () => false,
          () => true,
        );
      await expect.poll(isRefused).toBe(true);
      writeFileSync(path.join(folder, "go"), "");
      const response = await waiting;
      expect([response.status, await response.json()]).toEqual([200, { waited: true }]);
      expect(await service.line()).toBe("job ends");
      expect(await service.ended).toBe(0);
      expect(service.errors()).toBe("");
    },
  );

  it("runs a job that was queued or running when it was killed, after it starts again", async () => {
    const folder = makeProject(slowProject);
    const environment = { ...secrets, LOG: "off" };
    const killed = startProject(folder, environment);
    const url = urlIn(await killed.linesTo(greeted));
    void fetch(`${url}/waits`, { method: "POST" }).catch(() => undefined);
    const begun = [await killed.line(), await killed.line()];
    expect(begun).toContain("request begins");
    killed.kill("SIGKILL");
    await killed.ended;
    writeFileSync(path.join(folder, "go"), "");
    const again = startProject(folder, environment);
    await again.linesTo(greeted);
    await again.linesTo("job ends");
    again.kill("SIGTERM");
    expect(await again.ended).toBe(0);
  });

  it("runs a job that another process has queued while none ran", async () => {
    const folder = makeProject(notesProject);
    const url = `sqlite:${path.join(folder, "notes.db")}`;
    const store = await openStore(url, { collections: app.collections });
    await store.collection(note.collection).insert({ text: "old" });
    await createJobs(store).add(tidy, { text: "old" });
    await store.close();
    const service = startProject(folder, { ...secrets, DATABASE_URL: url });
    const origin = urlIn(await service.linesTo(greeted));
    const list = async (): Promise<unknown> => (await fetch(`${origin}/notes`)).json();
    await expect.poll(list, { timeout: 30_000 }).toEqual([]);
  });
});
