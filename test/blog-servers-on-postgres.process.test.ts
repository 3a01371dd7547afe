import { expect, it, onTestFinished } from "vitest";
import { raceForEmail, raceToUpdate, sendTo } from "../examples/blog/test/races.ts";
import { restartUnderLoad } from "../examples/blog/test/rolling-restart.ts";
import { startServer } from "../examples/blog/test/server-process.ts";
import { masterKey } from "../examples/blog/test/api-client.ts";
import { noPostgres, startPostgres } from "../packages/documents/test/postgres-server.ts";

it.skipIf(noPostgres !== undefined)(
  "four processes of the blog on one PostgreSQL agree about emails, articles and failed sign-ins",
  { timeout: 180_000 },
  async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const DATABASE_URL = await postgres.create();
    // All clients have one address here, which is not a limit of theirs.
    const environment = { DATABASE_URL, SIGN_IN_LIMIT: "0" };
    const servers = [];
    for (let count = 0; count < 4; count += 1) servers.push(await startServer(environment));
    const origins = servers.map(({ origin }) => origin);
    await raceForEmail(origins);
    await raceToUpdate(origins);

    const statuses: number[] = [];
    for (let client = 0; client < 12; client += 1) {
      const { status } = await sendTo(origins, client, ["POST", "/auth"], {
        json: { access_token: masterKey },
        headers: { authorization: `Basic ${btoa("eve@example.com:wrong")}` },
      });
      statuses.push(status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    for (const { child, end } of servers) {
      child.kill("SIGTERM");
      expect(await end).toEqual({ code: 0, errors: "" });
    }
  },
);

it.skipIf(noPostgres !== undefined)(
  "four processes of the blog on one PostgreSQL limit the sign-ins of an address together",
  { timeout: 180_000 },
  async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const DATABASE_URL = await postgres.create();
    const servers = [];
    for (let count = 0; count < 4; count += 1) {
      servers.push(await startServer({ DATABASE_URL, SIGN_IN_LIMIT: "8", SIGN_IN_FAILURES: "0" }));
    }
    const origins = servers.map(({ origin }) => origin);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, client) =>
        sendTo(origins, client, ["POST", "/auth"], {
          json: { access_token: masterKey },
          headers: { authorization: `Basic ${btoa(`eve${client}@example.com:wrong`)}` },
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([
      ...Array.from({ length: 8 }, () => 401),
      ...Array.from({ length: 16 }, () => 429),
    ]);
    for (const { status, headers } of answers) {
      if (status !== 429) continue;
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    // Each process refuses now, those that let nobody pass too.
    for (const origin of origins) {
      const { status } = await fetch(new URL("/auth", origin), { method: "POST" });
      expect(status).toBe(429);
    }
  },
);

it.skipIf(noPostgres !== undefined)(
  "two processes of the blog on one PostgreSQL lose no request while one after the other is restarted",
  { timeout: 180_000 },
  async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    await restartUnderLoad({ DATABASE_URL: await postgres.create() });
  },
);
