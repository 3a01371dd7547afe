import type { ModelPart, ModelProvider, ModelRequest } from "@fetchwork/agent";

const files: Readonly<Record<string, string>> = {
  "src/greeting.js": "export function greet(name) {\n  return `Hello, ${name}!`;\n}\n",
  "src/main.js": 'import { greet } from "./greeting.js";\n\nconsole.log(greet("you"));\n',
};

/** A model whose answers a person wrote: a project of two files. */
export function scriptedProvider(): ModelProvider {
  return { id: "scripted", defaultModel: "scripted", generate: answer };
}

// A provider yields as answers come over a network; these are there already.
// oxlint-disable-next-line typescript/require-await
async function* answer({ messages, tool }: ModelRequest): AsyncIterable<ModelPart> {
  const question = messages.at(-1)?.content ?? "";
  if (tool?.name === "write_file") {
    const path = Object.keys(files).find((name) => question.includes(`the source of ${name}.`));
    const content = path === undefined ? "" : files[path];
    yield { type: "tool", id: "1", name: tool.name, delta: JSON.stringify({ content }) };
    yield { type: "finish", reason: "tool" };
    return;
  }
  if (tool !== undefined) {
    const listed = Object.keys(files).map((path) => ({
      path,
      purpose: `The file ${path}`,
      dependsOn: path === "src/main.js" ? ["src/greeting.js"] : [],
      exports: [],
    }));
    yield { type: "tool", id: "1", name: tool.name, delta: JSON.stringify({ files: listed }) };
    yield { type: "finish", reason: "tool" };
    return;
  }
  const text = `# Shared dependencies\n\n${Object.keys(files).join("\n")}\n`;
  yield { type: "text", text };
  yield { type: "finish", reason: "stop" };
}
