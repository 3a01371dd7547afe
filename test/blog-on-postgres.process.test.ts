import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { noPostgres, startPostgres } from "../packages/documents/test/postgres-server.ts";

const root = join(import.meta.dirname, "..");

it.skipIf(noPostgres !== undefined)(
  "The blog passes its tests on PostgreSQL too",
  { timeout: 180_000 },
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const child = spawn(
      process.execPath,
      // One file after the other, since they share the database.
      [
        join(root, "node_modules/vitest/vitest.mjs"),
        "run",
        "--no-file-parallelism",
        "examples/blog/src/api",
        "examples/blog/test/articles",
      ],
      {
        cwd: root,
        env: {
          ...process.env,
          // `more` would leave out the tests that one process can run.
          FETCHWORK_TESTS: "all",
          TEST_DATABASE_URL: await server.create(),
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(`${output}${errors}`).toMatch(/^[1-9]\d* passed, 0 failed/m);
  },
);
