import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import "./scripts/require-node.cjs";

// Half of what a process of a test computes is to strip and compile the sources, which all of them
// share.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compile");

const conditions = ["@fetchwork/source"];

const folders = ["{packages,examples}/*/{src,test}", "test"];
const allTests = folders.map((folder) => `${folder}/**/*.test.ts`);
/** Tests that kill a process, need a second one or a browser, or run a generated project. */
const processTests = folders.map((folder) => `${folder}/**/*.process.test.ts`);
/** Tests that `npm run test:all` and CI repeat more often, or on more versions of PostgreSQL. */
const repeatedTests = [
  "packages/documents/test/{contract/*,migration,soft-deletion}.test.ts",
  "packages/rest/test/contract/contract.test.ts",
];
/**
 * Tests that `npm test` leaves to `npm run test:more`, since they take long and look at what others
 * have looked at.
 */
const longTests = [
  "packages/documents/test/{growth-matrix,planner-sqlite}.test.ts",
  "packages/documents/test/postgres-distributed.test.ts",
  "test/blog-fuzz.test.ts",
];

/** Unset: what needs one process. `all`: everything. `more`: what `all` adds to that. */
const tests = process.env["FETCHWORK_TESTS"];
if (tests !== undefined && tests !== "all" && tests !== "more") {
  throw new TypeError(`invalid FETCHWORK_TESTS "${tests}": expected "all", "more" or nothing`);
}

/** Tests that look at the whole process, so each has one to itself. */
const isolatedTests = [
  "packages/middleware/test/**/profiler.test.ts",
  // They run all timers, and would run those of others, for ever or in between.
  "packages/middleware/test/outbound/{retry,retry-both-ends}.test.ts",
  // They count all timers of the process.
  "packages/fetchwork/test/agent/view/live-view.test.ts",
  "packages/http/test/client/{client-limits,retry}.test.ts",
  "packages/kit/test/waiting/pause.test.ts",
  "packages/middleware/test/{limits/{throttle,timeout},observe/health}.test.ts",
  "packages/oauth2/test/manager/token-back-off.test.ts",
  "packages/webhooks/test/dispatch/event-handler.test.ts",
  // What was reported once is not reported again by the process.
  "packages/middleware/test/order.test.ts",
  // It hashes passwords at full cost.
  "packages/rest/test/accounts/password.test.ts",
];

const isolated = {
  extends: true as const,
  test: { name: "isolated", include: isolatedTests },
};

const oneProcess = {
  extends: true as const,
  test: {
    name: "one process",
    include: tests === "more" ? [...repeatedTests, ...longTests] : allTests,
    exclude: [
      "**/node_modules/**",
      ...processTests,
      ...isolatedTests,
      ...(tests === undefined ? longTests : []),
    ],
    // The files of a worker share its modules, so that the sources are loaded once.
    isolate: false,
    setupFiles: "packages/rest/test/cheap-passwords.ts",
    sequence: { groupOrder: 0 },
  },
};

/** Resources behave on PostgreSQL as they do in memory. */
const restOnPostgres = {
  extends: true as const,
  test: {
    name: "rest on PostgreSQL",
    include: [
      "packages/rest/test/bulk/bulk.test.ts",
      "packages/rest/test/operations/{groups,list,owners,restore}.test.ts",
      "packages/rest/test/relations/{cascade-hooks,populate,relations}.test.ts",
      "packages/rest/test/accounts/{most-per-user,taken-addresses}.test.ts",
      "packages/rest/test/{resource/field-access,resource/hooks,http/idempotency}.test.ts",
      "packages/rest/test/plan/{access-by-relation,resource-access,where-parameter}.test.ts",
    ],
    setupFiles: "packages/rest/test/on-postgres.ts",
    isolate: false,
    sequence: { groupOrder: 0 },
  },
};

/** They measure time, so nothing else runs then. */
const timedTests = [
  "packages/verify/test/{scale,shop}.process.test.ts",
  "test/webhook-sender/neighbours.process.test.ts",
];

const processes = {
  extends: true as const,
  test: {
    name: "processes",
    include: processTests,
    exclude: ["**/node_modules/**", ...timedTests],
    // Each has processes of its own.
    maxWorkers: availableParallelism(),
    sequence: { groupOrder: 1 },
  },
};

const timed = {
  extends: true as const,
  test: {
    name: "timed",
    include: timedTests,
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  },
};

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Only erasing is needed here; a broken project reference is for the type check to report.
  tsconfig: "tsconfig.base.json",
  test: {
    projects: [
      oneProcess,
      ...(tests === "more" ? [] : [isolated]),
      ...(tests === undefined ? [] : [restOnPostgres, processes, timed]),
    ],
    reporters: ["default", "./scripts/plain-summary-reporter.ts"],
    // Where threads come and go, V8 now and then ends a process at its record of code pages
    // (https://github.com/nodejs/node/issues/64500), also where code of WebAssembly is freed.
    // Without keys of memory, and where such code is kept, it happens less.
    execArgv: [
      "--conditions=@fetchwork/source",
      "--no-memory-protection-keys",
      "--no-wasm-code-gc",
    ],
    globalSetup: "packages/documents/test/stop-servers.ts",
    // Tests wait a quarter of their time: for servers, timers and the disk.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A machine that is busy with other tests is slow; what never comes is no less missed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
