import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Journal } from "../src/workspace/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "journal-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("has what was appended, after every cut of its end, and goes on from there", async () => {
  const whole = join(folder, "whole");
  const journal = await Journal.open(whole);
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
    const cut = await Journal.open(file);
    const kept = ends.filter((end) => end <= length).length - 1;
    expect(cut.entries.map(({ type }) => type)).toEqual(["t0", "t1", "t2"].slice(0, kept));
    await cut.append("next", {});
    await cut.close();
    const again = await Journal.open(file);
    expect(again.entries.at(-1)?.type).toBe("next");
    expect(again.entries).toHaveLength(kept + 1);
    await again.close();
  }
});

it("refuses damage that is not at its end", async () => {
  const file = join(folder, "damaged");
  const journal = await Journal.open(file);
  for (let at = 0; at < 3; at += 1) await journal.append("t", { at });
  await journal.close();
  writeFileSync(file, readFileSync(file, "utf8").replace('"at":1', '"at":7'));
  await expect(Journal.open(file)).rejects.toMatchObject({ code: "ERR_AGENT_JOURNAL" });
});

it("cuts off a last line that is whole and wrong", async () => {
  const file = join(folder, "last");
  const journal = await Journal.open(file);
  await journal.append("t", {});
  await journal.close();
  appendFileSync(file, '0123456789abcdef [1,"x",{}]\n');
  const again = await Journal.open(file);
  expect(again.entries).toHaveLength(1);
  await again.close();
});
