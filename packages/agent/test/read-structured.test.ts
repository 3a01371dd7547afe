import { describe, expect, it } from "vitest";
import { contractTool } from "../src/calls/prompts.ts";
import { readStructured } from "../src/calls/read-structured.ts";

const files = [
  { path: "a.js", purpose: "It's {the} entry", dependsOn: ["b.js"], exports: [] },
  { path: "b.js", purpose: "Rest", dependsOn: [], exports: ["b"] },
];
const value = { files };
const json = JSON.stringify(value);
const pretty = JSON.stringify(value, null, 2);

describe("readStructured", () => {
  it.each([
    ["plain", json],
    [
      "in a fence, with sentences around it",
      `Here it is:\n\n\`\`\`json\n${pretty}\n\`\`\`\nGood luck {you}!`,
    ],
    ["before prose with brackets", `${pretty}\n\nNote: {a} and [b] are left out.`],
    ["behind prose", `The files are these: ${json}`],
    ["with a comma at the end of lists", pretty.replaceAll("\n    }\n  ]", "\n    },\n  ],")],
    ["with comments", pretty.replace("{\n", "{ // the files\n").replace("[", "/* all */ [")],
    ["with names that are not quoted", pretty.replaceAll(/"(\w+)":/g, "$1:")],
    ["encoded twice", JSON.stringify(json)],
    ["as a call", JSON.stringify({ name: "project_files", arguments: value })],
    [
      "as a call whose arguments are text",
      JSON.stringify({ name: "project_files", arguments: json }),
    ],
    ["as parameters", JSON.stringify({ name: "project_files", parameters: value })],
    [
      "in the tags of a call",
      `<tool_call>\n{"name": "project_files", "arguments": ${json}}\n</tool_call>`,
    ],
    ["in the tags of a function", `<function=project_files>${json}</function>`],
    ["behind the mark of calls", `[TOOL_CALLS] [{"name": "project_files", "arguments": ${json}}]`],
    ["with the list as text", JSON.stringify({ files: JSON.stringify(files) })],
    [
      "in two calls",
      files
        .map(
          (file) =>
            `<tool_call>{"name":"project_files","arguments":${JSON.stringify({ files: [file] })}}</tool_call>`,
        )
        .join("\n"),
    ],
  ])("reads JSON %s", (_, text) => {
    expect(readStructured(text, contractTool)).toEqual(value);
  });

  it("reads values as Python writes them", () => {
    const text =
      "{'files': [{'path': 'a.py', 'purpose': 'It is {one}', 'final': True, 'of': None,}]}";
    expect(readStructured(text, contractTool)).toEqual({
      files: [{ path: "a.py", purpose: "It is {one}", final: true, of: null }],
    });
  });

  it("reads a single entry in the place of a list of one", () => {
    const [file] = files;
    expect(readStructured(JSON.stringify({ files: file }), contractTool)).toEqual({
      files: [file],
    });
  });

  it.each(["- `src/a.ts`: the entry\n- src/b.ts\n", "1. src/a.ts - the entry\n2. **src/b.ts**\n"])(
    "reads a list with bullets or numbers: %j",
    (text) => {
      const paths = ["src/a.ts", "src/b.ts"];
      expect(readStructured(`These files:\n${text}`, contractTool)).toEqual({
        files: paths.map((path) => ({ path })),
      });
    },
  );

  it.each([
    "",
    "I cannot do that.",
    "- one thing\n- another one\n",
    json.slice(0, -3),
    pretty.slice(0, 40),
    "{'files': [{'path': 'a.py', 'purpose': 'cut",
    "[TOOL_CALLS] [{",
    "[".repeat(100_000),
    `{"files": [${" ".repeat(1_048_576)}]}`,
  ])("finds no value in what is cut off, too long or no JSON: %#", (text) => {
    expect(readStructured(text, contractTool)).toBeUndefined();
  });

  it("does not take a call of another tool for one of this tool", () => {
    const text = JSON.stringify({ name: "remove_files", arguments: value });
    expect(readStructured(text, contractTool)).not.toHaveProperty("files");
  });

  it("changes no prototype", () => {
    const text = '{"files": [], "__proto__": {"polluted": true}}';
    readStructured(`<tool_call>${text}</tool_call><tool_call>${text}</tool_call>`, contractTool);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("takes time in proportion to the text", () => {
    const timeOf = (length: number): number => {
      const text = "'\"{[".repeat(length / 4);
      const begun = performance.now();
      readStructured(text, contractTool);
      return performance.now() - begun;
    };
    timeOf(40_000);
    expect(timeOf(400_000)).toBeLessThan(Math.max(500, 40 * timeOf(40_000)));
  });
});
