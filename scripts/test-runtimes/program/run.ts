// Runs on Node, Bun and Deno: imports one entry, then does its smoke test. Says on the standard
// output how far it came.
import { processPlatform } from "./process-platform.ts";
import type { Platform } from "./platform.ts";

const [entry = "", test = "", peer = ""] = process.argv.slice(2);

try {
  if (test === "import") {
    const exported = (await import(entry)) as object;
    if (Object.keys(exported).length === 0) throw new Error(`${entry} exports nothing`);
  } else {
    const { smoke } = (await import(`./smoke/${test}.ts`)) as {
      readonly smoke: (platform: Platform) => Promise<void>;
    };
    await smoke(processPlatform(peer));
  }
  console.log("fetchwork: passed");
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
