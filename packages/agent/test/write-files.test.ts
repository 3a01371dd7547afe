import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentEvent } from "../src/run/agent-event.ts";
import type { AgentSettings } from "../src/run/agent-options.ts";
import type { RecordStep, WriteIntent } from "../src/run/run-state.ts";
import { writeFiles } from "../src/run/write-files.ts";
import { ConfinedFolder } from "../src/workspace/confined-folder.ts";

let out: string;
let recorded: string[];

beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), "write-files-"));
  recorded = [];
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

const settings: AgentSettings = {
  concurrency: 8,
  maxFiles: 1_000,
  maxFileBytes: 100_000,
  maxTotalBytes: 1_000_000,
  repair: 0,
  onConflict: "merge",
};

async function write(
  contents: ReadonlyMap<string, string>,
  parts: {
    readonly record?: RecordStep;
    readonly intents?: Map<string, WriteIntent>;
    readonly events?: AgentEvent[];
    readonly approve?: AgentSettings["approve"];
  } = {},
) {
  const folder = await ConfinedFolder.open(out);
  const { intents = new Map<string, WriteIntent>(), events, approve } = parts;
  const record: RecordStep =
    parts.record ??
    ((type, data) => {
      recorded.push(`${type} ${"path" in data ? data.path : ""}`);
      return Promise.resolve();
    });
  return writeFiles(contents, folder, {
    settings: { ...settings, approve },
    record,
    intents,
    signal: new AbortController().signal,
    emit: (event) => events?.push(event),
  });
}

const textOf = (path: string): string => readFileSync(join(out, path), "utf8");

it("writeFiles writes a hundred files of two texts, each said once and in order", async () => {
  const paths = Array.from({ length: 100 }, (_, at) => `src/${at % 7}/f${at}.txt`);
  const contents = new Map(paths.map((path, at) => [path, at % 2 === 0 ? "even\n" : "odd\n"]));
  const events: AgentEvent[] = [];
  const files = await write(contents, { events });
  for (const [path, text] of contents) expect(textOf(path)).toBe(text);
  expect(files.map(({ path, action }) => `${action} ${path}`)).toEqual(
    paths.map((path) => `created ${path}`),
  );
  expect(events.map((event) => ("path" in event ? event.path : ""))).toEqual(paths);
  expect(recorded).toEqual(paths.map((path) => `write ${path}`));
});

it("writeFiles puts nothing down that is not in the journal yet", async () => {
  const contents = new Map(Array.from({ length: 40 }, (_, at) => [`f${at}.txt`, `${at}\n`]));
  const early: string[] = [];
  await write(contents, {
    record: async (type, data) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (type === "write" && "path" in data && existsSync(join(out, data.path))) {
        early.push(data.path);
      }
    },
  });
  expect(early).toEqual([]);
});

it("writeFiles writes nothing of a group whose entries do not reach the journal", async () => {
  const contents = new Map([
    ["a.txt", "a\n"],
    ["b.txt", "b\n"],
  ]);
  const full = new Error("the disk is full");
  const failing = write(contents, {
    record: (_, data) =>
      "path" in data && data.path === "b.txt" ? Promise.reject(full) : Promise.resolve(),
  });
  await expect(failing).rejects.toBe(full);
  expect(existsSync(join(out, "a.txt"))).toBe(false);
});

it("writeFiles loses neither of two files when one conflicts and the other has the name that it is put at", async () => {
  writeFileSync(join(out, "a.js"), "mine\n");
  const contents = new Map([
    ["first.js", "first\n"],
    ["a.js", "ours\n"],
    ["a.js.new", "another\n"],
  ]);
  const files = await write(contents);
  expect(textOf("a.js")).toBe("mine\n");
  const places = ["a.js.new", "a.js.new.new", "a.js.new2"].filter((path) =>
    existsSync(join(out, path)),
  );
  expect(places.map(textOf).toSorted()).toEqual(["another\n", "ours\n"]);
  expect(files.map(({ path }) => path)).toEqual(["first.js", "a.js", "a.js.new"]);
});

it("writeFiles says what was written before it fails with what was not", async () => {
  const contents = new Map([
    ["a.txt", "a\n"],
    ["b.txt", "b\n"],
    ["c.txt", "c\n"],
  ]);
  const events: AgentEvent[] = [];
  const failing = write(contents, {
    events,
    record: (_, data) => {
      // Somebody is faster.
      if ("path" in data && data.path === "b.txt") writeFileSync(join(out, "b.txt"), "theirs\n");
      return Promise.resolve();
    },
  });
  await expect(failing).rejects.toMatchObject({ code: "ERR_AGENT_CONFLICT", path: "b.txt" });
  expect(textOf("b.txt")).toBe("theirs\n");
  expect(events.map((event) => ("path" in event ? event.path : ""))).toEqual(["a.txt", "c.txt"]);
  expect([textOf("a.txt"), textOf("c.txt")]).toEqual(["a\n", "c\n"]);
});

it("writeFiles asks an approver about a file only when what was allowed before is written", async () => {
  const contents = new Map([
    ["a.txt", "a\n"],
    ["b.txt", "b\n"],
  ]);
  const there: boolean[] = [];
  const failing = write(contents, {
    approve: ({ path }) => {
      there.push(existsSync(join(out, "a.txt")));
      return path === "b.txt" ? "abort" : "apply";
    },
  });
  await expect(failing).rejects.toMatchObject({ code: "ERR_AGENT_CANCELLED" });
  expect(there).toEqual([false, true]);
});

it("writeFiles takes away what a process left that was killed when its file was in its place", async () => {
  const intents = new Map<string, WriteIntent>();
  const contents = new Map([["a.txt", "a\n"]]);
  const record: RecordStep = (_, data) => {
    const intent = data as WriteIntent & { readonly path: string };
    intents.set(intent.path, intent);
    return Promise.resolve();
  };
  await write(contents, { record });
  const mark = createHash("sha256").update("a.txt").digest("hex").slice(0, 16);
  writeFileSync(join(out, `.${mark}.fetchwork.tmp`), "a\n");
  const [file] = await write(contents, { intents });
  expect(file?.action).toBe("created");
  expect(readdirSync(out).filter((name) => name !== ".fetchwork")).toEqual(["a.txt"]);
});

it.each<readonly [string, (base: string) => void]>([
  // By it the person's line would be one that we took away.
  ["has other content", (base) => writeFileSync(base, "1\n2\nmine\n")],
  ["is not there", (base) => rmSync(base)],
])("writeFiles puts ours next to a person's file when the base of both %s", async (_, damage) => {
  await write(new Map([["a.txt", "1\n2\n"]]));
  const hash = createHash("sha256").update("1\n2\n").digest("hex");
  damage(join(out, ".fetchwork/base", hash));
  writeFileSync(join(out, "a.txt"), "1\n2\nmine\n");
  const [file] = await write(new Map([["a.txt", "one\n2\n"]]));
  expect(file).toMatchObject({ action: "conflict", beside: "a.txt.new" });
  expect([textOf("a.txt"), textOf("a.txt.new")]).toEqual(["1\n2\nmine\n", "one\n2\n"]);
});

it("writeFiles writes nothing down for a file that is skipped", async () => {
  const contents = new Map([
    ["a.txt", "a\n"],
    ["b.txt", "b\n"],
  ]);
  await write(contents, { approve: ({ path }) => (path === "a.txt" ? "skip" : "apply") });
  expect(recorded).toEqual(["write b.txt"]);
  expect(existsSync(join(out, "a.txt"))).toBe(false);
});
