import { join } from "node:path";
import { goThrough } from "./steps.ts";
import { tour } from "./tour.ts";

/** Milliseconds that the whole tour may take. */
const limit = 20_000;

const start = performance.now();
const scripted = join(import.meta.dirname, "../transcripts/notes.ndjson");
const transcript = process.env["TOUR_TRANSCRIPT"] || scripted;

// What hangs is a surprise, too.
setTimeout(() => {
  console.error(`surprise: the tour has not ended after ${limit} ms`);
  process.exit(1);
}, limit).unref();

// By itself a signal would leave the project running, and the folder where it is.
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

process.exitCode = await goThrough((steps) => tour(steps, { transcript }), {
  log: console.log,
  fail: console.error,
});
if (process.exitCode === 0) {
  console.log(`the tour ended well after ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
