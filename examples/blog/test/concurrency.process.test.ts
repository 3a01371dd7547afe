import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it, onTestFinished } from "vitest";
import { raceForEmail, raceToUpdate } from "./races.ts";
import { restartUnderLoad } from "./rolling-restart.ts";
import { startServer } from "./server-process.ts";

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
    await restartUnderLoad({ DATABASE_URL: await temporaryDatabase() });
  });
});
