import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommandOptions } from "../../src/command/command.ts";
import { expandShortcuts } from "../../src/command/expand-shortcuts.ts";

const options: CommandOptions = {
  debug: { type: "string", isBoolean: true, description: "" },
  out: { type: "string", short: "o", aliases: ["generate_folder_path"], description: "" },
  scale: { type: "string", valueIfNone: "9", description: "" },
  dry: { type: "boolean", description: "" },
};

describe("expandShortcuts", () => {
  it.each([
    ["--debug=maybe", '--debug must be true or false, got "maybe"'],
    ["--debug=", '--debug must be true or false, got ""'],
    ["--no-debug=true", "--no-debug does not take a value"],
  ])("refuses %s", (argument, message) => {
    expect(() => expandShortcuts([argument], options)).toThrow(message);
  });

  it.each([
    [["--debug"], ["--debug=true"]],
    [["--debug", "true"], ["--debug=true"]],
    [["--debug", "False"], ["--debug=false"]],
    [["--debug=no"], ["--debug=false"]],
    [["--debug=1"], ["--debug=true"]],
    [["--no-debug"], ["--debug=false"]],
    [["--scale"], ["--scale=9"]],
    [
      ["--scale", "--dry"],
      ["--scale=9", "--dry"],
    ],
    [
      ["--scale", "7"],
      ["--scale", "7"],
    ],
    [["--scale=7"], ["--scale=7"]],
    [
      ["-o", "--scale"],
      ["-o", "--scale"],
    ],
    [
      ["--debug", "a game"],
      ["--debug=true", "a game"],
    ],
    [
      ["a game", "--debug", "--dry"],
      ["a game", "--debug=true", "--dry"],
    ],
  ])("reads %j as %j", (args, expanded) => {
    expect(expandShortcuts(args, options)).toEqual(expanded);
  });

  it("accepts an alias with its value in either form", () => {
    expect(expandShortcuts(["--generate_folder_path=x"], options)).toEqual(["--out=x"]);
    expect(expandShortcuts(["--generate_folder_path", "x"], options)).toEqual(["--out", "x"]);
  });

  it("leaves values of other options and arguments after -- unchanged", () => {
    expect(expandShortcuts(["--out", "--debug"], options)).toEqual(["--out", "--debug"]);
    expect(expandShortcuts(["-o", "--debug"], options)).toEqual(["-o", "--debug"]);
    expect(expandShortcuts(["--", "--debug", "no"], options)).toEqual(["--", "--debug", "no"]);
  });

  it("leaves arguments that are not options unchanged", () => {
    const word = fc.string().filter((text) => !text.startsWith("-"));
    fc.assert(
      fc.property(fc.array(word), (words) => {
        expect(expandShortcuts(words, options)).toEqual(words);
      }),
    );
  });
});
