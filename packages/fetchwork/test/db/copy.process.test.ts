import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { openStore } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { allEngines, newFolder } from "./db-world.ts";
import { items, migrations, others } from "./shop-definitions.ts";

const mainFile = join(import.meta.dirname, "../../src/main.ts");

async function fill(count: number): Promise<string> {
  const url = `sqlite:${join(newFolder(), "from.db")}`;
  await using store = await openStore(url, { collections: [items, ...others], migrations });
  const names = Array.from({ length: count }, (_entry, index) => ({ z: 1, name: `item ${index}` }));
  const [first] = await store.collection(items).insertMany(names);
  await store.collection(items).remove(first?.id ?? "");
  return url;
}

describe.each(allEngines)("fetchwork db copy to %s", (_engine, newUrl) => {
  it("continues after kill -9", async () => {
    const from = await fill(20_000);
    const to = await newUrl();
    const args = ["--conditions=@fetchwork/source", mainFile, "db", "copy", from, to, "--json"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit");
    let lines = 0;
    for await (const line of createInterface({ input: child.stderr })) {
      expect(JSON.parse(line)).toMatchObject({ collection: "items", of: 19_999 });
      lines += 1;
      if (lines === 5) child.kill("SIGKILL");
    }
    expect(await ended).toEqual([null, "SIGKILL"]);
    const again = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    const [[code], stdout, stderr] = await Promise.all([
      once(again, "exit"),
      text(again.stdout),
      text(again.stderr),
    ]);
    expect(code).toBe(0);
    const [first = ""] = stderr.split("\n", 1);
    const resumed: unknown = JSON.parse(first);
    expect(resumed).toMatchObject({ collection: "items", of: 19_999 });
    expect(Number(Object(resumed)["documents"])).toBeGreaterThan(1000);
    expect(JSON.parse(stdout)).toMatchObject({
      collections: [{ collection: "items", documents: 20_000 }, { documents: 0 }],
    });
  }, 120_000);
});
