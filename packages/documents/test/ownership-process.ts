// Opens the store of argv[2], exclusively with argv[3] "exclusive"; says so, and stays until
// killed.
import { openStore } from "../src/index.ts";

const [, , path = "", mode = ""] = process.argv;
try {
  await openStore(`sqlite:${path}`, { exclusive: mode === "exclusive", busyTimeout: 500 });
  process.stdout.write("open\n");
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
