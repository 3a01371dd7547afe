import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Answer, Question } from "../src/calls/ask-model.ts";
import { AgentError } from "../src/errors.ts";
import { ChangedFiles, ToolRefusal } from "../src/loop/changed-files.ts";
import { changeTools } from "../src/loop/change-tools.ts";
import { defineTool, type LoopTool } from "../src/loop/loop-tool.ts";
import type { PaidAnswer } from "../src/loop/loop-model.ts";
import { lookTools } from "../src/loop/look-tools.ts";
import { lastWords, runLoop, type LoopParts, type ToolResult } from "../src/loop/run-loop.ts";
import { shortenResults } from "../src/loop/shorten-results.ts";

const usage = { inputTokens: 1, outputTokens: 1, cost: null, calls: 1 };
const said = (text: string): Answer => ({ text, toolCalls: [], thoughts: [], usage });
const calling = (...calls: readonly (readonly [name: string, input: unknown])[]): Answer => ({
  text: "",
  toolCalls: calls.map(([name, input]) => ({ name, arguments: JSON.stringify(input) })),
  thoughts: [],
  usage,
});

/** A loop whose model answers as scripted. */
function world(answers: readonly (Answer | Error)[], tools: Readonly<Record<string, LoopTool>>) {
  const questions: Question[] = [];
  const kept = new Map<string, PaidAnswer>();
  const results = new Map<string, ToolResult>();
  const heard: string[] = [];
  const parts: LoopParts = {
    name: "scripted",
    ask: (question) => {
      const answer = answers[questions.push(question) - 1];
      if (answer === undefined) return Promise.reject(new Error("there are no more answers"));
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    answers: kept,
    keep: (key, answer) => Promise.resolve(void kept.set(key, answer)),
    results,
    keepResult: (id, result) => Promise.resolve(void results.set(id, result)),
    instructions: "Work.",
    tools,
    maxSteps: 5,
    signal: new AbortController().signal,
    onTool: (name, about, { isRefused }) => void heard.push(`${name} ${about} ${!isRefused}`),
  };
  return { parts, questions, kept, results, heard };
}

const asked = [{ role: "user" as const, content: "Count." }];
const resultsOf = ({ turns = [] }: Question): readonly unknown[] =>
  turns.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "tool-result" ? [part.output] : [])),
  );

describe("a loop of tools", () => {
  it("does all calls of an answer one after another, in their order", async () => {
    const order: string[] = [];
    const wait = defineTool({
      description: "",
      input: z.object({ time: z.number() }),
      about: ({ time }) => `${time}`,
      execute: async ({ time }) => {
        order.push(`begin ${time}`);
        await new Promise((resolve) => setTimeout(resolve, time));
        order.push(`end ${time}`);
        return `waited ${time}`;
      },
    });
    const { parts, questions, heard } = world(
      [calling(["wait", { time: 20 }], ["wait", { time: 1 }]), said("done")],
      { wait },
    );
    expect(lastWords(await runLoop(asked, parts))).toBe("done");
    expect(order).toEqual(["begin 20", "end 20", "begin 1", "end 1"]);
    expect(questions[1] && resultsOf(questions[1])).toEqual([
      { type: "text", value: "waited 20" },
      { type: "text", value: "waited 1" },
    ]);
    expect(heard).toEqual(["wait 20 true", "wait 1 true"]);
  });

  it("tells the model of unknown tools, wrong arguments and refusals, and goes on", async () => {
    const files = new ChangedFiles(new Map([["a.js", "1\n"]]), new Set(), {
      maxFileBytes: 100,
      canRemove: true,
      allowProtected: false,
    });
    const { parts, questions } = world(
      [
        calling(["fly", {}], ["read", { file: "a.js" }], ["read", { path: "b.js" }]),
        said("enough"),
      ],
      lookTools(files),
    );
    await runLoop(asked, parts);
    const told = JSON.stringify(questions[1] && resultsOf(questions[1]));
    expect(told).toContain("unavailable tool 'fly'");
    expect(told).toContain("Invalid input for tool read");
    expect(told).toContain("Refused: There is no file b.js.");
  });

  it("ends with what a tool throws that is not a refusal", async () => {
    const broken = defineTool({
      description: "",
      input: z.object({}),
      about: () => "",
      execute: () => Promise.reject(new AgentError("ERR_AGENT_LIMIT", "too large")),
    });
    const { parts, questions } = world([calling(["broken", {}]), said("no")], { broken });
    await expect(runLoop(asked, parts)).rejects.toMatchObject({ code: "ERR_AGENT_LIMIT" });
    expect(questions).toHaveLength(1);
  });

  it("ends after its steps", async () => {
    const count = defineTool({
      description: "",
      input: z.object({ of: z.number() }),
      about: () => "",
      execute: ({ of }) => `${of}`,
    });
    const endless = Array.from({ length: 9 }, (_, of) => calling(["count", { of }]));
    const { parts, questions } = world(endless, { count });
    await expect(runLoop(asked, parts)).rejects.toMatchObject({ code: "ERR_AGENT_LIMIT" });
    expect(questions).toHaveLength(5);
  });

  it("pays no answer twice, and takes a result that may differ from before", async () => {
    let runs = 0;
    const dice = defineTool({
      mayDiffer: true,
      description: "",
      input: z.object({}),
      about: () => "",
      execute: () => `${(runs += 1)}`,
    });
    const first = world([calling(["dice", {}]), new AgentError("ERR_AGENT_TIMEOUT", "late")], {
      dice,
    });
    await expect(runLoop(asked, first.parts)).rejects.toMatchObject({ code: "ERR_AGENT_TIMEOUT" });
    const second = world([said("done")], { dice });
    const { kept: answers, results } = first;
    await runLoop(asked, { ...second.parts, answers, results });
    expect([runs, second.questions.length]).toEqual([1, 1]);
    expect(second.questions[0] && resultsOf(second.questions[0])).toEqual([
      { type: "text", value: "1" },
    ]);
  });

  it("hands thoughts and what a provider said of them back, and names calls by nine characters", async () => {
    const metadata = { anthropic: { signature: "s" } };
    const thinking = {
      ...calling(["list", {}]),
      thoughts: [{ text: "First list.", metadata }],
    };
    const files = new ChangedFiles(new Map(), new Set(), {
      maxFileBytes: 100,
      canRemove: true,
      allowProtected: false,
    });
    const { parts, questions } = world([thinking, said("done")], lookTools(files));
    await runLoop(asked, parts);
    expect(questions[1]?.turns?.[1]?.content).toMatchObject([
      { type: "reasoning", text: "First list.", providerOptions: metadata },
      { type: "tool-call", toolCallId: expect.stringMatching(/^[\da-f]{9}$/) as string },
    ]);
  });

  it("continues a text that was cut, and pays no part of it twice", async () => {
    const cut = { ...said("I have cou"), isCut: true };
    const killed = world([cut, new AgentError("ERR_AGENT_TIMEOUT", "late")], {});
    await expect(runLoop(asked, killed.parts)).rejects.toMatchObject({ code: "ERR_AGENT_TIMEOUT" });
    const { kept: answers } = killed;
    const rest = { ...calling(["list", {}]), text: "nted." };
    const second = world([rest, said("done")], {});
    const all = await runLoop(asked, { ...second.parts, answers });
    expect(second.questions[0]?.turns?.slice(1)).toMatchObject([
      { role: "assistant", content: [{ text: "I have cou" }] },
      { role: "user", content: [{ text: expect.stringContaining("Go on exactly") as string }] },
    ]);
    expect(all[1]?.content).toMatchObject([
      { type: "text", text: "I have counted." },
      { type: "tool-call", toolName: "list" },
    ]);
    const again = world([], {});
    await runLoop(asked, { ...again.parts, answers: new Map([...answers, ...second.kept]) });
    expect(again.questions).toEqual([]);
  });

  it("asks for less when an answer was cut, twice", async () => {
    const cut = new AgentError("ERR_AGENT_TRUNCATED", "cut");
    const good = world([cut, cut, said("short")], {});
    expect(lastWords(await runLoop(asked, good.parts))).toBe("short");
    expect(JSON.stringify(good.questions[2]?.turns)).toContain("Go on with a shorter one");
    const bad = world([cut, cut, cut, said("never")], {});
    await expect(runLoop(asked, bad.parts)).rejects.toMatchObject({ code: "ERR_AGENT_TRUNCATED" });
  });
});

describe("the tools of a loop", () => {
  const limits = { maxFileBytes: 1_000, canRemove: true, allowProtected: false };
  const open = (files: Readonly<Record<string, string>>, more: Partial<typeof limits> = {}) => {
    const changed = new ChangedFiles(new Map(Object.entries(files)), new Set(["logo.png"]), {
      ...limits,
      ...more,
    });
    const tools: Readonly<Record<string, LoopTool>> = {
      ...lookTools(changed),
      ...changeTools(changed),
    };
    const call = async (name: string, input: unknown): Promise<string> => {
      try {
        const done = await tools[name]?.execute(input, new AbortController().signal);
        return typeof done === "string" ? done : "";
      } catch (error) {
        if (error instanceof ToolRefusal) return `refused: ${error.message}`;
        throw error;
      }
    };
    return { changed, call };
  };

  it("list folders with the number of their files where there are many", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`src/${index % 9}/f${index}.js`, ""]),
    );
    const { call } = open({ ...many, "a.js": "" });
    expect(await call("list", {})).toBe(
      `a.js\n${Array.from({ length: 9 }, (_, at) => `src/${at}/ (100 files)`).join("\n")}`,
    );
    expect((await call("list", { folder: "src/1/" })).split("\n")).toHaveLength(100);
    expect(await call("list", { folder: "nowhere" })).toBe(
      "refused: There is nothing below nowhere.",
    );
  });

  it("read the lines that are asked for, with their numbers", async () => {
    const { call } = open({ "a.js": "one\ntwo\nthree\n", "b.js": "" });
    expect(await call("read", { path: "a.js" })).toBe("1\tone\n2\ttwo\n3\tthree");
    expect(await call("read", { path: "./a.js", from: 2, lines: 1 })).toBe(
      "2\ttwo\n(3 lines in all; read on from 3)",
    );
    expect(await call("read", { path: "a.js", from: 9 })).toBe("refused: The file has 3 lines.");
    expect(await call("read", { path: "b.js" })).toBe("The file is empty.");
  });

  it.each([
    [".env", "it may hold keys"],
    ["id_rsa", "it may hold keys"],
    ["a.js", "it holds a key"],
    ["logo.png", "it is not text"],
    ["../x", "The path"],
    ["/etc/passwd", "The path"],
    [".git/config", "The path"],
  ])("do not show %s", async (path, why) => {
    const token = ["AKI", "AABCDEFGHIJ234567"].join("");
    const files = {
      ".env": "KEY=1\n",
      id_rsa: "k\n",
      "logo.png": "",
      "a.js": `let KEY = "${token}";\n`,
    };
    const { call } = open(files);
    expect(await call("read", { path })).toContain(why);
    expect(await call("grep", { pattern: "KEY|k" })).toBe("No line matches.");
  });

  it("say that a line is longer than what they show of it", async () => {
    const { call } = open({ "data.json": `["${"x".repeat(50_000)}"]\n`, "a.json": "[]\n" });
    const shown = await call("read", { path: "data.json" });
    expect(shown).toMatch(/xxx… \(10004 characters of the line are left out\)$/);
    expect(await call("read", { path: "a.json" })).toBe("1\t[]");
  });

  it("find lines by patterns, and end a pattern that takes forever", async () => {
    const { call } = open({ "a.js": "let a = 1;\nlet B = 2;\n", "x/b.js": `${"a".repeat(40)}!\n` });
    expect(await call("grep", { pattern: "let b", ignoreCase: true })).toBe("a.js:2: let B = 2;");
    expect(await call("grep", { pattern: "let", folder: "x" })).toBe("No line matches.");
    expect(await call("grep", { pattern: "(" })).toMatch(/^refused: Invalid regular expression/);
    expect(await call("grep", { pattern: "(a+)+$" })).toBe("refused: The pattern takes too long.");
  });

  it("change what was read, and nothing else", async () => {
    const { call, changed } = open({ "a.js": "let a = 1;\n" });
    const edit = { path: "a.js", search: "a = 1", replace: "a = 2" };
    expect(await call("edit", edit)).toBe("refused: Read a.js before you change it.");
    await call("read", { path: "a.js" });
    expect(await call("edit", edit)).toBe("Done.");
    expect(await call("write", { path: "new/b.js", content: "1;\n" })).toBe("Done.");
    expect(await call("edit", { ...edit, path: "new/b.js", search: "1;" })).toBe("Done.");
    expect(Object.fromEntries(changed.changed)).toEqual({
      "a.js": "let a = 2;\n",
      "new/b.js": "a = 2\n",
    });
  });

  it("make files where others differ from each other only in case", async () => {
    const { call } = open({
      "README.md": "1\n",
      "readme.md": "2\n",
      "Docs/a.md": "",
      "docs/b.md": "",
    });
    expect(await call("write", { path: "src/a.js", content: "1;\n" })).toBe("Done.");
    expect(await call("write", { path: "Readme.md", content: "3\n" })).toContain("only in case");
  });

  it("keep the line ends of a file that is written again", async () => {
    const { call, changed } = open({ "a.bat": "one\r\ntwo\r\n" });
    await call("read", { path: "a.bat" });
    await call("write", { path: "a.bat", content: "one\n2\n" });
    expect(Object.fromEntries(changed.changed)).toEqual({ "a.bat": "one\r\n2\r\n" });
  });

  it("refuse changes that leave code out, are too large, or of protected files", async () => {
    const { call } = open({ "a.js": "let a = 1;\n" });
    const content = "let a;\n// ... rest of the code stays the same\n";
    expect(await call("write", { path: "b.js", content })).toContain("leaves out code");
    await expect(call("write", { path: "b.js", content: "x".repeat(2_000) })).rejects.toMatchObject(
      { code: "ERR_AGENT_LIMIT" },
    );
    for (const path of [
      ".husky/pre-commit",
      ".github/workflows/x.yml",
      ".vscode/tasks.json",
      ".env",
    ]) {
      expect(await call("write", { path, content: "x" })).toContain("is protected");
    }
    const asking = open({}, { allowProtected: true });
    expect(await asking.call("write", { path: ".github/a.yml", content: "x" })).toBe("Done.");
  });

  it("move and remove files, unless they may not", async () => {
    const { call, changed } = open({ "a.js": "1\n", "b.js": "2\n" });
    expect(await call("move", { from: "a.js", to: "b.js" })).toContain("already");
    expect(await call("move", { from: "a.js", to: "c/a.js" })).toBe("Done.");
    expect(await call("remove", { path: "b.js" })).toBe("Done.");
    expect(Object.fromEntries(changed.changed)).toEqual({
      "c/a.js": "1\n",
      "a.js": undefined,
      "b.js": undefined,
    });
    const picture = open({ "logo.png": "" });
    const refused = "refused: logo.png cannot be removed or moved: it is not text, or too long.";
    expect(await picture.call("remove", { path: "logo.png" })).toBe(refused);
    expect(await picture.call("move", { from: "logo.png", to: "a.png" })).toBe(refused);
    const strict = open({ "a.js": "1\n" }, { canRemove: false });
    expect(await strict.call("remove", { path: "a.js" })).toContain("cannot be removed");
  });
});

it("the loop leaves the oldest long results out when a conversation is too long", () => {
  const result = (id: number, value: string) => ({
    role: "tool" as const,
    content: [
      {
        type: "tool-result" as const,
        toolCallId: `${id}`,
        toolName: "read",
        output: { type: "text" as const, value },
      },
    ],
  });
  const long = "x".repeat(60_000);
  const few = [result(1, long), result(2, "short"), result(3, long)];
  expect(shortenResults(few)).toEqual(few);
  const many = Array.from({ length: 8 }, (_, id) => result(id, id === 1 ? "short" : long));
  const shown = shortenResults(many).map(({ content }) => JSON.stringify(content).length > 50_000);
  expect(shown).toEqual([false, false, false, false, false, false, true, true]);
  expect(JSON.stringify(shortenResults(many)[1])).toContain("short");
});
