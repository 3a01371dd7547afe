import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const things = defineCollection<{ a: number }>("things");
const programFile = fileURLToPath(new URL("ownership-process.ts", import.meta.url));

/** Opens the store in another process; returns what that says, and the way to kill it. */
async function openElsewhere(
  path: string,
  mode: string,
): Promise<{ readonly said: string; kill(): Promise<void> }> {
  const args = ["--conditions=@fetchwork/source", programFile, path, mode];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exit;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout });
  const { value: said = "" } = await lines[Symbol.asyncIterator]().next();
  return { said, kill };
}

async function open(path: string, exclusive: boolean): Promise<Store> {
  const store = await openStore(`sqlite:${path}`, { exclusive, busyTimeout: 500 });
  onTestFinished(() => store.close());
  return store;
}

describe("A store that is opened exclusively", () => {
  it("is refused with anything but true or false", async () => {
    const result: unknown = Reflect.apply(openStore, undefined, [
      "sqlite::memory:",
      { exclusive: "yes" },
    ]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
  });

  it.each(["exclusive", "shared"])("refuses a second process that is %s", async (mode) => {
    const path = join(temporaryFolder(), "a.db");
    const store = await open(path, true);
    await store.collection(things).insert({ a: 1 });
    const { said } = await openElsewhere(path, mode);
    expect(said).toMatch(/^cannot open .*a\.db: another process has it open.*PostgreSQL/);
    await store.collection(things).insert({ a: 2 });
    expect(await store.collection(things).count()).toBe(2);
  });

  it.each(["exclusive", "shared"])(
    "is refused while a process that is %s has it, and free when that is killed",
    async (mode) => {
      const path = join(temporaryFolder(), "a.db");
      const other = await openElsewhere(path, mode);
      expect(other.said).toBe("open");
      await expect(open(path, true)).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_OPEN",
        message: expect.stringContaining("PostgreSQL"),
      });
      await other.kill();
      const store = await open(path, true);
      await store.collection(things).insert({ a: 1 });
    },
  );

  it("is free for everybody when it is closed", async () => {
    const path = join(temporaryFolder(), "a.db");
    await (await open(path, true)).close();
    const other = await openElsewhere(path, "shared");
    expect(other.said).toBe("open");
    const store = await open(path, false);
    await store.collection(things).insert({ a: 1 });
    await store.close();
    await expect(open(path, true)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPEN" });
  });

  it("can be checked and copied by its own process", async () => {
    const folder = temporaryFolder();
    const store = await open(join(folder, "a.db"), true);
    await store.collection(things).insert({ a: 1 });
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
    await administer(store).backup(join(folder, "b.db"));
    const copy = await open(join(folder, "b.db"), true);
    expect(await copy.collection(things).count()).toBe(1);
  });
});
