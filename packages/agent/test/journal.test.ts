import {
  appendFileSync,
  constants,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Journal } from "../src/workspace/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "journal-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const openJournal = async (path: string): Promise<Journal> =>
  Journal.over(await open(path, constants.O_RDWR | constants.O_CREAT));

it("a journal has what was appended, after every cut of its end, and goes on from there", async () => {
  const whole = join(folder, "whole");
  const journal = await openJournal(whole);
  await Promise.all(
    ["one", "zwei\nZeilen", "3 世界"].map((text, at) => journal.append(`t${at}`, { text })),
  );
  await journal.close();
  const bytes = readFileSync(whole);
  const ends = [
    0,
    ...Array.from(bytes.entries()).flatMap(([at, byte]) => (byte === 10 ? [at + 1] : [])),
  ];
  expect(ends).toHaveLength(4);
  for (let length = 0; length <= bytes.length; length += 1) {
    const file = join(folder, "cut");
    writeFileSync(file, bytes.subarray(0, length));
    const cut = await openJournal(file);
    const kept = ends.filter((end) => end <= length).length - 1;
    expect(cut.entries.map(({ type }) => type)).toEqual(["t0", "t1", "t2"].slice(0, kept));
    await cut.append("next", {});
    await cut.close();
    const again = await openJournal(file);
    expect(again.entries.at(-1)?.type).toBe("next");
    expect(again.entries).toHaveLength(kept + 1);
    await again.close();
  }
});

it("a journal refuses damage that is not at its end", async () => {
  const file = join(folder, "damaged");
  const journal = await openJournal(file);
  for (let at = 0; at < 3; at += 1) await journal.append("t", { at });
  await journal.close();
  writeFileSync(file, readFileSync(file, "utf8").replace('"at":1', '"at":7'));
  await expect(openJournal(file)).rejects.toMatchObject({ code: "ERR_AGENT_JOURNAL" });
});

it("a journal cuts off a last line that is whole and wrong", async () => {
  const file = join(folder, "last");
  const journal = await openJournal(file);
  await journal.append("t", {});
  await journal.close();
  appendFileSync(file, '0123456789abcdef [1,"x",{}]\n');
  const again = await openJournal(file);
  expect(again.entries).toHaveLength(1);
  await again.close();
});

it("a journal writes the rest of what a nearly full disk took in parts", async () => {
  const file = join(folder, "parts");
  const handle = await open(file, "w+");
  const write = handle.write.bind(handle) as (
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ) => Promise<{ bytesWritten: number; buffer: Uint8Array }>;
  // A disk that is full cannot be had in a test; the system call's own answer is shortened instead.
  Object.assign(handle, {
    write: (bytes: Uint8Array, offset: number, length: number, position: number) =>
      write(bytes, offset, Math.min(length, 7), position),
  });
  const journal = await Journal.over(handle);
  await Promise.all([journal.append("one", { text: "x".repeat(100) }), journal.append("two", {})]);
  await journal.close();
  const again = await openJournal(file);
  expect(again.entries.map(({ type }) => type)).toEqual(["one", "two"]);
  await again.close();
});
