import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/**
 * A folder with checkouts of `expressjs/cors` and `expressjs/compression` as `cors/` and `compression/`, and `node_modules`
 * with mocha and what their tests import: supertest, after, bytes, express.
 */
const folder = process.env["FETCHWORK_EXPRESS_SUITES"] ?? "";

interface Report {
  readonly passes: readonly { readonly fullTitle: string }[];
  readonly failures: readonly { readonly fullTitle: string }[];
}

async function runSuite(files: readonly string[]): Promise<Report> {
  const shim = join(import.meta.dirname, "express-suites-shim.ts");
  const mocha = [join(folder, "node_modules/mocha/bin/mocha.js"), "--reporter=json"];
  const run = promisify(execFile)(
    process.execPath,
    [...mocha, "--timeout=1500", "--exit", ...files],
    {
      cwd: folder,
      env: {
        ...process.env,
        NODE_ENV: "test",
        NODE_OPTIONS: `--conditions=@fetchwork/source --import ${shim}`,
      },
    },
  );
  // Mocha exits with the number of failures.
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
  return JSON.parse(stdout.slice(stdout.indexOf('{\n  "stats"'))) as Report;
}

/** Cases that do not hold by decision; docs/conformance/middleware.md has the reasons. */
const corsDifferences = [
  "does not alter `options` configuration object",
  "can configure preflight success response status code",
  "doesn't shortcircuit preflight requests with preflightContinue option",
  "includes Content-Length response header",
  "doesn't match request origin against array of invalid origin checks",
  "can specify allowed headers as array",
  "can specify allowed headers as string",
  "specifying an empty list or string of allowed headers",
  "if no allowed headers are specified",
  "handles options specified via callback",
  "handles options specified via callback for preflight",
];
const compressionDifferences = [
  "should skip HEAD",
  "should not set Vary",
  "should transfer chunked",
  "should remove Content-Length for chunked",
  "should transfer large bodies",
  "should return false writing after end",
  "deflate",
  ".filter",
  "enforceEncoding",
  // These wait for connections that Node 24 keeps alive, and fail with the original too.
  "back-pressure",
  "should flush",
];

describe.skipIf(!existsSync(join(folder, "node_modules/mocha")))(
  "the suites of Express, in the folder FETCHWORK_EXPRESS_SUITES,",
  () => {
    it("hold for toExpress(cors()), apart from what was decided otherwise", async () => {
      const names = ["test", "issue-2", "error-response", "example-app"];
      const { passes, failures } = await runSuite(names.map((name) => `cors/test/${name}.js`));
      const unexpected = failures.filter(
        ({ fullTitle }) => !corsDifferences.some((known) => fullTitle.includes(known)),
      );
      expect(unexpected.map(({ fullTitle }) => fullTitle)).toEqual([]);
      expect(passes.length).toBeGreaterThanOrEqual(38);
    }, 60_000);

    it("hold for toExpress(compress()), apart from what was decided otherwise", async () => {
      const { passes, failures } = await runSuite(["compression/test/compression.js"]);
      const unexpected = failures.filter(
        ({ fullTitle }) => !compressionDifferences.some((known) => fullTitle.includes(known)),
      );
      expect(unexpected.map(({ fullTitle }) => fullTitle)).toEqual([]);
      expect(passes.length).toBeGreaterThanOrEqual(33);
    }, 60_000);
  },
);
