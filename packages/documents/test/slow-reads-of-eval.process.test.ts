import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

/**
 * Reads for longer than the main thread does it, then checks the file, builds an index and counts
 * by it.
 */
const program = `
import { administer, defineCollection, openStore } from ${JSON.stringify(
  new URL("../src/index.ts", import.meta.url).href,
)};
const url = "sqlite:" + process.env.STORE_PATH;
const notes = defineCollection("notes");
const first = await openStore(url, { collections: [notes] });
const documents = Array.from({ length: 30_000 }, (_, n) => ({ n, text: "x".repeat(100) + n }));
await first.collection(notes).insertMany(documents);
const found = await first.collection(notes).find({ where: { n: { gte: 0 } }, sort: ["-text"] });
const { ok } = await administer(first).check();
await first.close();
const indexed = defineCollection("notes", { indexes: ["n"], search: ["text"] });
const second = await openStore(url, { collections: [indexed] });
const count = await second.collection(indexed).count({ where: { n: 7 } });
await second.close();
console.log(JSON.stringify([found.length, ok, count]));
`;

describe("A program that is given on the command line", () => {
  it.each([["--input-type=module", "--eval"]])(
    "A program that is started with %s reads, checks and builds in threads",
    async (...flags) => {
      const path = join(temporaryFolder(), "a.db");
      const child = spawn(process.execPath, ["--conditions=@fetchwork/source", ...flags, program], {
        cwd: fileURLToPath(new URL("..", import.meta.url)),
        env: { ...process.env, STORE_PATH: path },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [output, errors] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      expect({ output, errors }).toEqual({ output: "[30000,true,1]\n", errors: "" });
    },
  );
});
