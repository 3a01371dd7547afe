import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  text: string;
  tag?: string;
}

const notes = defineCollection<Note>("notes");

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe("openStore", () => {
  it.each([
    "postgres://user:secret@host/db?pass=secret",
    "postgres://user:sec%ret@host/db",
    "postgres:user:secret",
    "mysql://x",
    "data.db",
    "",
    "sqlite:",
    "sqlite::",
    "sqlite::temp:",
    "sqlite:a.db?mode=ro",
    "sqlite:a\0.db",
    "sqlite://host/a.db",
    "file:a.db",
    "file://host/a.db",
    "file:///a.db?x=1",
    "file:///%zz",
    "file:///a%2Fb",
  ])("refuses the URL %j, without showing a password", async (url) => {
    const result = openStore(url);
    await expect(result).rejects.toBeInstanceOf(TypeError);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
    await expect(result).rejects.not.toThrow("secret");
  });

  it("says how a path is written when it follows two slashes", async () => {
    await expect(openStore("sqlite://data/blog.db")).rejects.toThrow('"sqlite:data/blog.db"');
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 31])("refuses the busy timeout %d", async (busyTimeout) => {
    await expect(openStore("sqlite::memory:", { busyTimeout })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it("refuses a file that is not a database, and leaves it as it is", async () => {
    const path = join(temporaryFolder(), "a.txt");
    writeFileSync(path, "just some text, and more than a header of it\n".repeat(200));
    await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
      message: expect.stringMatching(/^cannot open .*a\.txt: file is not a database$/),
    });
    expect(await readFile(path, "utf8")).toMatch(/^just some text/);
  });

  it("refuses the database of another program, and leaves it as it is", async () => {
    const path = join(temporaryFolder(), "a.db");
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE users (name TEXT)");
    other.close();
    const before = await readFile(path);
    await expect(openStore(`sqlite:${path}`)).rejects.toThrow("the database of another program");
    expect(await readFile(path)).toEqual(before);
  });

  it.each([5, 7])("refuses a store of another format: %d", async (format) => {
    const path = join(temporaryFolder(), "a.db");
    await (await openStore(`sqlite:${path}`)).close();
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${format}`);
    database.close();
    await expect(openStore(`sqlite:${path}`)).rejects.toThrow(`it has format ${format}`);
  });

  it("refuses a folder, and a path below a file", async () => {
    const folder = temporaryFolder();
    await expect(openStore(`sqlite:${folder}`)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
    });
    writeFileSync(join(folder, "file"), "");
    await expect(openStore(`sqlite:${join(folder, "file", "a.db")}`)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
    });
  });

  it("refuses to open a file twice, under whatever name, until it is closed", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    const store = await openStore(`sqlite:${join(folder, "real", "a.db")}`);
    await expect(openStore(`sqlite:${join(folder, "link", "a.db")}`)).rejects.toThrow(
      "already open in this process",
    );
    await store.close();
    await (await openStore(`sqlite:${join(folder, "link", "a.db")}`)).close();
  });

  it("can open a file again after a failed attempt", async () => {
    const path = join(temporaryFolder(), "a.db");
    const store = await openStore(`sqlite:${path}`, { collections: [notes] });
    await store.collection(notes).insertMany([{ text: "a" }, { text: "a" }]);
    await store.close();
    const unique = defineCollection<Note>("notes", { unique: ["text"] });
    await expect(openStore(`sqlite:${path}`, { collections: [unique] })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_UNIQUE",
      collection: "notes",
      fields: ["text"],
    });
    await (await openStore(`sqlite:${path}`, { collections: [notes] })).close();
  });

  it("creates none with `create: false`, nor the folder or the file", async () => {
    const folder = temporaryFolder();
    const missing = { code: "ERR_DOCUMENTS_MISSING" };
    const deep = `sqlite:${join(folder, "new", "a.db")}`;
    await expect(openStore(deep, { create: false })).rejects.toMatchObject(missing);
    expect(readdirSync(folder)).toEqual([]);
    const path = join(folder, "a.db");
    writeFileSync(path, "");
    await expect(openStore(`sqlite:${path}`, { create: false })).rejects.toMatchObject(missing);
    expect(readdirSync(folder)).toEqual(["a.db"]);
    expect(statSync(path).size).toBe(0);
    await (await openStore(`sqlite:${path}`)).close();
    await (await openStore(`sqlite:${path}`, { create: false, collections: [notes] })).close();
  });

  it("creates the missing folders", async () => {
    const path = join(temporaryFolder(), "new", "deep", "a.db");
    await (await openStore(`sqlite:${path}`)).close();
    expect(existsSync(path)).toBe(true);
  });

  it.skipIf(!existsSync("/proc/self"))("says so where a folder cannot be made", async () => {
    await expect(openStore("sqlite:/proc/fetchwork/new/a.db")).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
      message: expect.stringContaining("ENOENT"),
    });
  });

  it.skipIf(process.platform === "win32")(
    "creates folders and files that only their owner can read",
    async () => {
      const folder = temporaryFolder();
      const path = join(folder, "new", "deep", "a.db");
      const store = await openStore(`sqlite:${path}`, { collections: [notes] });
      await store.collection(notes).insert({ text: "a" });
      const files = [path, `${path}-wal`, `${path}-shm`];
      expect(files.map(mode)).toEqual(["600", "600", "600"]);
      expect([join(folder, "new"), join(folder, "new", "deep")].map(mode)).toEqual(["700", "700"]);
      await store.close();
      symlinkSync(join(folder, "target.db"), join(folder, "link.db"));
      await (await openStore(`sqlite:${join(folder, "link.db")}`)).close();
      expect(mode(join(folder, "target.db"))).toBe("600");
    },
  );

  it.skipIf(process.platform === "win32")(
    "leaves the modes of files and folders that are there",
    async () => {
      const folder = join(temporaryFolder(), "shared");
      const path = join(folder, "a.db");
      mkdirSync(folder);
      writeFileSync(path, "");
      chmodSync(folder, 0o750);
      chmodSync(path, 0o640);
      const store = await openStore(`sqlite:${path}`, { collections: [notes] });
      expect([folder, path, `${path}-wal`].map(mode)).toEqual(["750", "640", "640"]);
      await store.close();
      expect([folder, path].map(mode)).toEqual(["750", "640"]);
    },
  );

  it("takes an absolute path, three slashes and a file URL for the same file", async () => {
    const path = join(temporaryFolder(), "a b%20é.db");
    const first = await openStore(`sqlite:${path}`);
    const { id } = await first.collection(notes).insert({ text: "kept" });
    await first.close();
    for (const url of [`sqlite://${path}`, pathToFileURL(path).href]) {
      const store = await openStore(url);
      expect(await store.collection(notes).get(id)).toMatchObject({ text: "kept" });
      await store.close();
    }
  });

  it("closes at the end of its scope", async () => {
    const path = join(temporaryFolder(), "a.db");
    {
      await using store = await openStore(`sqlite:${path}`);
      await store.collection(notes).insert({ text: "a" });
    }
    await (await openStore(`sqlite:${path}`)).close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it("leaves no file of a store in memory behind, also while it is open", async () => {
    // A separate folder, since other tests open stores in memory at the same time.
    vi.stubEnv("TMPDIR", temporaryFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const ours = () => readdirSync(tmpdir());
    const before = ours();
    const store = await openStore("sqlite::memory:", { collections: [notes] });
    await store.collection(notes).insert({ text: "a" });
    if (process.platform !== "win32") expect(ours()).toEqual(before);
    await store.close();
    expect(ours()).toEqual(before);
  });

  it("builds indexes that are declared later, over the documents that are there", async () => {
    const path = join(temporaryFolder(), "a.db");
    const first = await openStore(`sqlite:${path}`, { collections: [notes] });
    const texts = Array.from({ length: 1200 }, (_, index) => ({ text: `note ${index}` }));
    await first.collection(notes).insertMany(texts);
    await first.close();
    const richer = defineCollection<Note>("notes", { unique: ["text"], search: ["text"] });
    const second = await openStore(`sqlite:${path}`, { collections: [richer] });
    expect(await second.collection(richer).count({ q: "note 1199" })).toBe(1);
    await expect(second.collection(richer).insert({ text: "note 7" })).rejects.toMatchObject({
      fields: ["text"],
    });
    await second.close();
  });

  it("builds a search index of the store's own fields too", async () => {
    const path = join(temporaryFolder(), "a.db");
    const first = await openStore(`sqlite:${path}`, { collections: [notes] });
    const { id } = await first.collection(notes).insert({ text: "a" });
    await first.close();
    const searched = defineCollection<Note>("notes", { search: ["id", "createdAt"] });
    const second = await openStore(`sqlite:${path}`, { collections: [searched] });
    expect(await second.collection(searched).find({ q: `${id} 20` })).toMatchObject([{ id }]);
    await second.close();
  });

  it.each([
    ["the schema", true],
    ["everything else", false],
  ])("names a file of which %s is damaged", async (_text, isSchema) => {
    const path = join(temporaryFolder(), "a.db");
    const first = await openStore(`sqlite:${path}`, { collections: [notes] });
    await first.collection(notes).insert({ text: "a" });
    await first.close();
    const bytes = await readFile(path);
    const size = bytes.readUInt16BE(16);
    if (isSchema) bytes.fill(0xff, 100, 200);
    else bytes.fill(0xff, size);
    writeFileSync(path, bytes);
    const richer = defineCollection<Note>("notes", { unique: ["text"], search: ["text"] });
    await expect(openStore(`sqlite:${path}`, { collections: [richer] })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
      message: expect.stringMatching(/^cannot open .*a\.db: .*malformed/),
    });
  });

  it("never uses a search index that fell behind", async () => {
    const path = join(temporaryFolder(), "a.db");
    const searched = defineCollection<Note>("notes", { search: ["text"] });
    const other = defineCollection<Note>("notes", { search: ["tag"] });
    for (const definition of [searched, notes, searched, other, searched]) {
      const store = await openStore(`sqlite:${path}`, { collections: [definition] });
      await store.collection(definition).insert({ text: "alpha", tag: "beta" });
      const count = await store.collection(definition).count();
      if (definition === searched) {
        expect(await store.collection(definition).count({ q: "alpha" })).toBe(count);
      }
      if (definition === other) {
        expect(await store.collection(definition).count({ q: "alpha" })).toBe(0);
        expect(await store.collection(definition).count({ q: "beta" })).toBe(count);
      }
      await store.close();
    }
  });
});
