import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { openApi } from "./api-client.ts";
import { joinAt, raceForEmail, raceToUpdate } from "./races.ts";
import { startServer } from "./server-process.ts";

describe("64 clients at the same time", () => {
  it("register one email once", async () => {
    const { origin } = await openApi("socket");
    await raceForEmail([origin]);
  });

  it("change one article one after the other", async () => {
    const { origin } = await openApi("socket");
    await raceToUpdate([origin]);
  });
});

describe("two servers on one file", () => {
  async function temporaryDatabase(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "blog-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    return `sqlite:${path.join(folder, "blog.db")}`;
  }

  it("pass the same", { timeout: 60_000 }, async () => {
    const DATABASE_URL = await temporaryDatabase();
    const servers = [await startServer({ DATABASE_URL }), await startServer({ DATABASE_URL })];
    const origins = servers.map(({ origin }) => origin);
    await raceForEmail(origins);
    await raceToUpdate(origins);
  });

  it("lose no request while one after the other is restarted", { timeout: 60_000 }, async () => {
    const DATABASE_URL = await temporaryDatabase();
    let servers = [await startServer({ DATABASE_URL }), await startServer({ DATABASE_URL })];
    const token = await joinAt(servers[0]?.origin ?? "", "ada@example.com");
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    onTestFinished(() => agent.destroy());
    let isOver = false;
    let answered = 0;
    const created: string[] = [];

    // What a balancer does: a server that refuses the connection has seen nothing, so the next one is asked.
    async function write(): Promise<void> {
      while (!isOver) {
        const id = await firstThatListens(() => servers.map(({ origin }) => origin), token);
        created.push(id);
      }
    }
    async function read(): Promise<void> {
      for (let turn = 0; !isOver; turn += 1) {
        const { origin = "" } = servers[turn % servers.length] ?? {};
        if (await readOnce(origin, agent)) answered += 1;
      }
    }
    const load = [write(), write(), write(), write(), read(), read(), read(), read()];
    for (let round = 0; round < 4; round += 1) {
      const before = created.length;
      await expect.poll(() => created.length, { timeout: 10_000 }).toBeGreaterThan(before + 20);
      const next = await startServer({ DATABASE_URL });
      const [oldest, other] = servers;
      servers = [other, next].filter((server) => server !== undefined);
      oldest?.child.kill("SIGTERM");
      expect(await oldest?.end).toEqual({ code: 0, errors: "" });
    }
    isOver = true;
    await Promise.all(load);

    expect(answered).toBeGreaterThan(0);
    expect(new Set(created).size).toBe(created.length);
    const response = await fetch(`${servers[0]?.origin}/articles?limit=1`);
    expect(response.headers.get("x-total-count")).toBe(String(created.length));
  });
});

/** Creates an article through the first server that takes the connection. Anything else that goes wrong is a loss. */
async function firstThatListens(origins: () => readonly string[], token: string): Promise<string> {
  for (;;) {
    for (const origin of origins()) {
      try {
        return await create(origin, token);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") throw error;
      }
    }
  }
}

function create(origin: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    request(new URL("/articles", origin), { method: "POST", agent: false, headers }, (response) => {
      json(response).then((body) => {
        const { id } = body as { id: string };
        if (response.statusCode === 201) resolve(id);
        else reject(new Error(`answered ${response.statusCode}`));
      }, reject);
    })
      .on("error", reject)
      .end(JSON.stringify({ title: "kept" }));
  });
}

/** Reads on a connection that is kept. One that was closed while idle may be tried again (RFC 9112 section 9.3.1). */
function readOnce(origin: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL("/articles?limit=1", origin), { agent }, (response) => {
      const isWhole = response.statusCode === 200;
      response.on("error", reject).on("end", () => {
        if (isWhole) resolve(true);
        else reject(new Error(`answered ${response.statusCode}`));
      });
      response.resume();
    });
    asked.on("error", (error: NodeJS.ErrnoException) => {
      const wasIdle = error.code === "ECONNRESET" && asked.reusedSocket;
      if (wasIdle || error.code === "ECONNREFUSED") resolve(false);
      else reject(error);
    });
    asked.end();
  });
}
