import { describe, expect, it } from "vitest";
import type { Command, CommandGroup } from "../../src/command/command.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";

/** The names that lead to every group and command. */
async function pathsOf(
  target: Command | CommandGroup,
  path: readonly string[] = [],
): Promise<readonly (readonly string[])[]> {
  if (!("commands" in target)) return [path];
  const below = await Promise.all(
    Array.from(target.commands, async ([name, load]) => pathsOf(await load(), [...path, name])),
  );
  return [path, ...below.flat()];
}

const paths = await pathsOf(commands);

async function help(args: readonly string[], columns?: number, env = {}): Promise<string> {
  const stdout = { isTerminal: false, columns };
  const io = memoryIo({ env });
  const code = await runCommand(commands, {
    args: [...args, "--help"],
    io: { ...io, stdout: { ...io.stdout, ...stdout } },
  });
  expect(code).toBe(0);
  return io.written.stdout;
}

describe("the help", () => {
  it("covers every command", () => {
    expect(paths.length).toBeGreaterThan(20);
  });

  describe.each([60, 80])("at %d columns", (columns) => {
    it.each(paths.map((path) => [["fetchwork", ...path].join(" "), path] as const))(
      "of %s breaks lines between words, and says the same as in a wide terminal",
      async (_, path) => {
        const narrow = await help(path, columns);
        const wide = await help(path, 10_000);
        const tooLong = narrow.split("\n").filter((line) => line.length > columns);
        expect(tooLong).toEqual([]);
        expect(narrow.split(/\s+/)).toEqual(wide.split(/\s+/));
      },
    );
  });

  it("uses COLUMNS without a terminal, otherwise 80 columns", async () => {
    expect(await help(["new"], undefined, { COLUMNS: "60" })).toBe(await help(["new"], 60));
    expect(await help(["new"], 0, { COLUMNS: "wide" })).toBe(await help(["new"], 80));
    expect(await help(["new"])).toBe(await help(["new"], 80));
  });

  it("fits terminals of any width", async () => {
    expect((await help(["agent"], 1)).split(/\s+/)).toEqual((await help(["agent"])).split(/\s+/));
  });
});
