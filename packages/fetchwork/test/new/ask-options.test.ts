import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { terminalOf } from "../../src/command/interactive-terminal.ts";
import { askOptions, type Answers } from "../../src/new/ask-options.ts";
import { memoryIo } from "../memory-io.ts";

const enter = "\r";
const down = "\u001b[B";
const interrupt = "\u0003";

/** A terminal on which somebody answers: each key when the next question is there. */
async function ask(
  given: Answers,
  keys: readonly string[],
  faultOfFolder = (folder: string): string | undefined =>
    folder === "full" ? "full is not empty" : undefined,
): Promise<{ readonly answers: Answers | undefined; readonly shown: string }> {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { columns: 80, rows: 40 });
  let shown = "";
  const waiting = [...keys];
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    // A question is drawn whole before it reads.
    const key = waiting.shift();
    if (key !== undefined) setImmediate(() => input.write(key));
  });
  const nameOf = (folder: string): string => folder.replace(/^.*\//, "");
  const { signal } = new AbortController();
  const context = { input, output, nameOf, faultOfFolder, signal };
  return { answers: await askOptions(given, context), shown };
}

describe("askOptions", () => {
  it("skips questions whose answers are given", async () => {
    const given = {
      folder: "shop",
      title: "Shop",
      database: "sqlite",
      auth: "password",
      signUp: "master",
      passwordResets: true,
      webhooks: false,
      list: "rows",
    };
    expect((await ask(given, [])).answers).toEqual(given);
  });

  it("returns the chosen options", async () => {
    const resets = { signUp: "master", passwordResets: false };
    const given = { folder: "shop", title: "Shop", ...resets, webhooks: false };
    const { answers, shown } = await ask(given, ["", down, enter, "", enter, "", down, enter]);
    const chosen = { database: "postgres", auth: "password", list: "rows" };
    expect(answers).toEqual({ ...given, ...chosen });
    expect(shown).toContain("Which database?");
  });

  it.each([
    ["proposes that everyone signs up, with password resets", [enter], "public", true],
    ["lets only the own server sign users up", [down, enter, "", enter], "master", false],
  ])("%s", async (_, keys, signUp, passwordResets) => {
    const given = { folder: "shop", title: "Shop", database: "sqlite", auth: "password" };
    const others = { webhooks: false, list: "array" };
    const { answers, shown } = await ask({ ...given, ...others }, ["", ...keys]);
    expect(answers).toEqual({ ...given, ...others, signUp, passwordResets });
    expect(shown).toContain("Everyone, with verified mail");
  });

  it("uses the suggested folder on Enter", async () => {
    const { answers, shown } = await ask({ title: "Shop", auth: "none", database: "sqlite" }, [
      enter,
    ]);
    expect(answers?.folder).toBe("my-api");
    expect(shown).toContain("y-api");
  });

  it("rejects the suggested folder on Enter if it cannot be used", async () => {
    const faultOfFolder = (folder: string): string | undefined =>
      folder === "my-api" ? "my-api is not empty" : undefined;
    const { answers, shown } = await ask({}, [enter, interrupt], faultOfFolder);
    expect(answers).toBeUndefined();
    expect(shown).toContain("my-api is not empty");
  });

  it("asks nothing about users where there are none", async () => {
    const given = { folder: "shop", title: "Shop", database: "sqlite" };
    const { answers } = await ask(given, ["", down, enter]);
    expect(answers).toEqual({ ...given, auth: "none" });
  });

  it("does not ask whether there are users if an option requires them", async () => {
    const given = { folder: "shop", title: "Shop", database: "sqlite", webhooks: true };
    const { shown } = await ask(given, ["", interrupt]);
    expect(shown).not.toContain("How do users sign in?");
    expect(shown).toContain("Who may sign up");
  });

  it.each([
    ["a folder that cannot serve", {}, "full is not empty", ["", "full", enter, interrupt]],
    [
      "a title that cannot serve",
      { folder: "shop" },
      "invalid title",
      ["", "<b>", enter, interrupt],
    ],
  ])("asks again for %s, before all the other questions", async (_, given, fault, keys) => {
    const { answers, shown } = await ask(given, keys);
    expect(answers).toBeUndefined();
    expect(shown).toContain(fault);
    expect(shown).not.toContain("Which database?");
  });

  it("returns undefined after Ctrl-C", async () => {
    const { answers } = await ask({ folder: "shop", title: "Shop" }, ["", interrupt]);
    expect(answers).toBeUndefined();
  });
});

describe("terminalOf", () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });

  it("returns a terminal only for an interactive process", () => {
    expect(terminalOf(memoryIo({ stdin: terminal }))).toBe(terminal);
  });

  it.each([
    ["a pipe", {}],
    ["a file", { stdin: new PassThrough() }],
    ["a terminal of a runner", { stdin: terminal, env: { CI: "true" } }],
  ])("is not %s", (_, given) => {
    expect(terminalOf(memoryIo(given))).toBeUndefined();
  });
});
