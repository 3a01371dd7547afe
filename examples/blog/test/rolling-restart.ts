import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { joinAt } from "./races.ts";
import { startServer } from "./server-process.ts";

/**
 * Restarts two servers of one store, one after the other and four times, while clients read and
 * write; every request that was sent has to be answered, and everything that was acknowledged to be
 * there.
 */
export async function restartUnderLoad(environment: NodeJS.ProcessEnv): Promise<void> {
  let servers = [await startServer(environment), await startServer(environment)];
  const token = await joinAt(servers[0]?.origin ?? "", "ada@example.com");
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  onTestFinished(() => agent.destroy());
  let isOver = false;
  let answered = 0;
  const created: string[] = [];

  // What a balancer does: a server that refuses the connection has seen nothing, so the next one is
  // asked.
  async function write(): Promise<void> {
    while (!isOver) {
      created.push(await firstThatListens(() => servers.map(({ origin }) => origin), token));
    }
  }
  async function read(): Promise<void> {
    for (let turn = 0; !isOver; turn += 1) {
      const { origin = "" } = servers[turn % servers.length] ?? {};
      if (await readOnce(origin, agent)) answered += 1;
    }
  }
  const load = Promise.all([write(), write(), write(), write(), read(), read(), read(), read()]);
  // One that is lost is told at once, and not when nothing more is created.
  const isLost = load.then(() => expect.unreachable("the load ended by itself"));
  isLost.catch(() => undefined);
  const grows = async (): Promise<void> => {
    const before = created.length;
    await expect.poll(() => created.length, { timeout: 20_000 }).toBeGreaterThan(before + 20);
  };
  for (let round = 0; round < 4; round += 1) {
    await Promise.race([grows(), isLost]);
    const next = await startServer(environment);
    const [oldest, other] = servers;
    servers = [other, next].filter((server) => server !== undefined);
    oldest?.child.kill("SIGTERM");
    expect(await oldest?.end).toEqual({ code: 0, errors: "" });
  }
  isOver = true;
  await load;

  expect(answered).toBeGreaterThan(0);
  expect(new Set(created).size).toBe(created.length);
  const response = await fetch(`${servers[0]?.origin}/articles?limit=1`);
  expect(response.headers.get("x-total-count")).toBe(String(created.length));
}

/**
 * Creates an article through the first server that takes the connection. Anything else that goes
 * wrong is a loss.
 */
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

/**
 * Reads on a connection that is kept. One that was closed while idle may be tried again (RFC 9112
 * section 9.3.1).
 */
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
