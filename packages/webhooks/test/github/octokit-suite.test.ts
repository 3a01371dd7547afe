import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

// A checkout of github.com/octokit/webhooks.js, for example at v14. Nothing of it is kept here.
const checkout = process.env["FETCHWORK_OCTOKIT_WEBHOOKS_SUITE"];
const packageFolder = resolve(import.meta.dirname, "../..");
// In the package, so that express and @octokit/webhooks-methods are found.
const folder = join(packageFolder, "node_modules/.cache/octokit-suite");
const source = join(packageFolder, "src");
const vitest = resolve(packageFolder, "../../node_modules/vitest/vitest.mjs");

/**
 * What stands in for the files of the original that its tests import. Tests of other files are of
 * its internals.
 */
const files: Readonly<Record<string, string>> = {
  "src/index.ts": 'export * from "@fetchwork/webhooks/github";',
  "src/event-handler/index.ts": 'export { createEventHandler } from "@fetchwork/webhooks/github";',
  "src/event-handler/validate-event-name.ts":
    'export { validateEventName } from "@fetchwork/webhooks/github";',
  "src/create-logger.ts": `export { completeLogger as createLogger } from "${source}/logger.ts";`,
  "src/normalize-trailing-slashes.ts": `
    import { trimSlashes } from "${source}/receive/receiver.ts";
    export const normalizeTrailingSlashes = (path: string) => trimSlashes(path || "/");`,
  "src/middleware/node/get-payload.ts": `
    import { readNodeBody } from "${source}/adapters/read-node-body.ts";
    import { BodyBudget } from "@fetchwork/kit";
    import { UnverifiedBody } from "${source}/receive/unverified-body.ts";
    const limits = { maxSize: Infinity, timeout: Infinity };
    export const getPayload = async (request: any) =>
      new TextDecoder().decode(
        await readNodeBody(request, new UnverifiedBody(new BodyBudget(Infinity), limits)),
      );`,
  "src/concat-uint8array.ts": `
    import { ByteCollector } from "@fetchwork/kit";
    export function concatUint8Array(chunks: Uint8Array[]) {
      const bytes = new ByteCollector();
      for (const chunk of chunks) bytes.add(chunk);
      return bytes.join();
    }`,
  "get-port.ts": `
    import { once } from "node:events";
    import { createServer } from "node:net";
    export default async function getPort() {
      const server = createServer().listen(0);
      await once(server, "listening");
      const { port } = server.address() as { port: number };
      server.close();
      await once(server, "close");
      return port;
    }`,
  "vitest.config.ts": `
    export default {
      resolve: { conditions: ["@fetchwork/source"], alias: { "get-port": "./get-port.ts" } },
      ssr: { resolve: { conditions: ["@fetchwork/source"] } },
      test: { include: ["test/**/*.test.ts"] },
    };`,
};

/** Tests of functions with a state that we do not have. */
const internals = ["on", "receive", "remove-listener", "wrap-error-handler"].map(
  (name) => `test/unit/event-handler-${name}.test.ts`,
);

const ownText = "the message is ours";
const ownCause = "the sender is not told what a handler threw, see exposeErrors";
const noError = "an error has no second error of the same message in `errors`";

/** What fails, and why. */
const differences: Readonly<Record<string, string>> = {
  "getPayload rejects with an error": "the message is ours, and the error of the stream its cause",
  "createNodeMiddleware - Node Handles non-request errors": ownCause,
  "createNodeMiddleware - Node Handles invalid signature": ownText,
  'validateEventName throws on invalid event name - "error"': ownText,
  'validateEventName throws on invalid event name - "error" with onUnkownEventName set to "warn"':
    ownText,
  'validateEventName throws on invalid event name - "error" with onUnkownEventName set to "ignore"':
    ownText,
  'validateEventName throws on invalid event name - "*"': ownText,
  'validateEventName throws on invalid event name - "*" with onUnkownEventName set to "warn"':
    ownText,
  'validateEventName throws on invalid event name - "*" with onUnkownEventName set to "ignore"':
    ownText,
  'validateEventName throws on invalid event name - "invalid"': ownText,
  'validateEventName logs on invalid event name - "invalid" and onUnknownEventName is "warn" - console.warn':
    ownText,
  'validateEventName logs on invalid event name - "invalid" and onUnknownEventName is "warn" - custom logger':
    ownText,
  "Webhooks new Webhooks() without secret option": ownText,
  "Webhooks webhooks.verifyAndReceive(event) with incorrect signature": noError,
  "Webhooks webhooks.receive(error)": "receive() takes events only, as its type says",
};

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Unset by default, because the suite is not ours to ship.
describe.skipIf(checkout === undefined)("The suite of @octokit/webhooks", () => {
  it("passes with @fetchwork/webhooks/github in its place, except for known differences", () => {
    cpSync(join(checkout ?? "", "test"), join(folder, "test"), { recursive: true });
    for (const path of internals) rmSync(join(folder, path));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const options = ["--reporter=json", "--outputFile=report.json"];
    spawnSync(process.execPath, [vitest, "run", ...options], { cwd: folder });
    const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as Report;
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = results.filter(({ status }) => status !== "passed");
    expect(failed.map(({ fullName }) => fullName).toSorted()).toEqual(
      Object.keys(differences).toSorted(),
    );
    expect(results.length - failed.length).toBeGreaterThanOrEqual(67);
  }, 120_000);
});
