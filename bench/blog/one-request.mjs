// Counts what one request to the blog passes: files of ours by the coverage of V8, and promises by
// async_hooks.
//
//   npm run one-request -- [path]
//
// The blog runs in this process, on a store in memory; the second of two equal requests is counted.
import { createHook } from "node:async_hooks";
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { openStore } from "../../packages/documents/src/index.ts";
import { runHandler } from "../../packages/http/src/index.ts";
import { app } from "../../examples/blog/src/app.ts";
import { openService, readStartSettings } from "../../packages/service/src/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const target = process.argv[2] ?? "/articles?q=word";
const store = await openStore("sqlite::memory:");
const secret = "benchmark-secret-benchmark-secret-0";
const settings = readStartSettings(app, { MASTER_KEY: `m${secret}`, JWT_SECRET: secret });
const { handler } = openService(app, store, { settings });
const articles = store.collection(
  (await import("../../examples/blog/src/api/article/model.ts")).article.collection,
);
await articles.insertMany(
  Array.from({ length: 100 }, (_, number) => ({
    title: `Title ${number}`,
    content: "a word or two",
    author: "ann",
  })),
);
const request = async () => {
  const response = await runHandler(handler, new Request(`http://localhost${target}`));
  return [response.status, (await response.text()).length];
};
for (let turn = 0; turn < 3; turn += 1) await request();

let promises = 0;
const hook = createHook({
  init(_id, type) {
    if (type === "PROMISE") promises += 1;
  },
}).enable();
const [status, length] = await request();
hook.disable();

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await request();
const { result } = await session.post("Profiler.takePreciseCoverage");
session.disconnect();
const files = result
  .filter(
    ({ url, functions }) =>
      url.startsWith("file:") &&
      functions.some(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0),
  )
  .map(({ url }) => path.relative(root, fileURLToPath(url)))
  .filter((file) => /^(?:packages|examples)\//.test(file) && !file.includes("node_modules"))
  .toSorted();
console.log(`GET ${target}: ${status}, ${length} bytes`);
console.log(`${promises} promises, two of them of this program`);
console.log(`${files.length} files`);
for (const file of files) console.log(`  ${file}`);
await store.close();
