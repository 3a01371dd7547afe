import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { AgentError } from "../src/errors.ts";
import { ChangedFiles } from "../src/loop/changed-files.ts";
import { defineTool } from "../src/loop/loop-tool.ts";
import { runLoop, type LoopParts, type ToolResult } from "../src/loop/run-loop.ts";
import { findBrowser, sandboxTools } from "../src/loop/sandbox-tools.ts";
import type { Answer, Question } from "../src/calls/ask-model.ts";
import { createSandbox, type Sandbox } from "../src/verify/sandbox.ts";

const limits = { maxFileBytes: 10_000, canRemove: true, allowProtected: false };
const server = `import { createServer } from "node:http";
console.log("starting");
createServer((request, response) => {
  if (request.url === "/endless") return void response.write("begun");
  if (request.url === "/bytes") return void response.end(Buffer.from([0, 1, 2]));
  if (request.url === "/long") return void response.end("x".repeat(50_000));
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
    response.writeHead(201, { "x-method": request.method, "x-sent": request.headers["x-sent"] ?? "" });
    response.end("got " + Buffer.concat(chunks));
  });
}).on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nupgrade: chat\\r\\nconnection: upgrade\\r\\n\\r\\n");
}).listen(Number(process.argv[2]), "127.0.0.1");
`;

/** A port that is free on this machine: a sandbox of the level process shares its network. */
async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const one = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => one.once("listening", resolve));
  const address = one.address();
  await new Promise((resolve) => one.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function world() {
  const from = mkdtempSync(join(tmpdir(), "server-tools-"));
  onTestFinished(() => rmSync(from, { recursive: true, force: true }));
  const files = new ChangedFiles(new Map([["server.mjs", server]]), new Set(), limits);
  const sandbox = await createSandbox({ level: "process" });
  const { request } = sandboxTools(files, sandbox, from);
  const port = await freePort();
  const ask = async (input: object): Promise<string> => {
    const given = { command: `node server.mjs ${port}`, port, path: "/", ...input };
    const told = await request?.execute(given, new AbortController().signal);
    return typeof told === "string" ? told : "";
  };
  return { ask, port };
}

it("ask_server starts a server, sends one request to it, and ends it", async () => {
  const { ask, port } = await world();
  const sent = { method: "POST", path: "/a?b=1", headers: { "x-sent": "yes" }, body: "hello" };
  const told = await ask(sent);
  expect(told).toMatch(/^It ended with 0\.\n\nstarting\n/);
  expect(told).toContain("HTTP 201 Created\nx-method: POST\nx-sent: yes\n");
  expect(told).toMatch(/\n\ngot hello$/);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
});

it("ask_server cuts responses, and names those that are no text or have no end", async () => {
  const { ask } = await world();
  const long = await ask({ path: "/long" });
  expect(long).toContain("(50000 bytes in all.)");
  expect(long.length).toBeLessThan(8_000);
  expect(await ask({ path: "/bytes" })).toContain("(3 bytes that are no text)");
  expect(await ask({ path: "/endless", seconds: 2 })).toContain(
    "begun\n(The response has no end.)",
  );
});

it("ask_server tells that a server changes the protocol, and does not wait for the end of that", async () => {
  const { ask } = await world();
  const from = performance.now();
  const told = await ask({ headers: { connection: "upgrade", upgrade: "chat" }, seconds: 30 });
  expect(told).toMatch(/HTTP 101 Switching Protocols\nupgrade: chat/);
  expect(performance.now() - from).toBeLessThan(20_000);
});

it("ask_server tells why there is no response", async () => {
  const { ask, port } = await world();
  const broken = await ask({ command: "echo no such setting >&2; exit 3" });
  expect(broken).toContain(`The server ended with 3 before it listened on port ${port}.`);
  expect(broken).toContain("no such setting");
  expect(await ask({ command: "sleep 30", seconds: 1 })).toContain(
    `Nothing listens on port ${port}.`,
  );
  const { createServer } = await import("node:net");
  const other = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  expect(await ask({})).toContain(`Something else listens on port ${port}.`);
  other.close();
});

it.skipIf(findBrowser() === undefined).each([
  ["a PNG", "\x89PNG\r\n\x1a\n", { text: "It ended with 0.\n\nseen", picture: "iVBORw0KGgo=" }],
  ["another file", "<svg>", "It ended with 0.\n\nseen\n\nThe picture is missing, or not a PNG."],
  ["no file", undefined, "It ended with 0.\n\nseen\n\nThe picture is missing, or not a PNG."],
])(
  "ask_server shows the picture that the browser wrote where it is a PNG: %s",
  async (_, written, told) => {
    const from = mkdtempSync(join(tmpdir(), "server-tools-"));
    onTestFinished(() => rmSync(from, { recursive: true, force: true }));
    const files = new ChangedFiles(new Map([["a.html", "<p>"]]), new Set(), limits);
    const sandbox = await createSandbox({ level: "process" });
    const exec: Sandbox["exec"] = async (command) => {
      const [, place = ""] = /--screenshot=([^"\\]+)/.exec(JSON.stringify(command)) ?? [];
      if (written !== undefined) writeFileSync(place, written, "latin1");
      return { code: 0, stdout: "seen", stderr: "", timedOut: false };
    };
    const { screenshot } = sandboxTools(files, { ...sandbox, exec }, from);
    const shown = await screenshot?.execute({ path: "a.html" }, new AbortController().signal);
    expect(shown).toEqual(told);
  },
);

const usage = { inputTokens: 1, outputTokens: 1, cost: null, calls: 1 };
const said: Answer = { text: "Seen.", toolCalls: [], thoughts: [], usage };
const look = { ...said, text: "", toolCalls: [{ name: "look", arguments: "{}" }] };

function loopOf(ask: (question: Question, count: number) => Answer) {
  const questions: Question[] = [];
  const results = new Map<string, ToolResult>();
  let count = 0;
  const tools = {
    look: defineTool({
      mayDiffer: true,
      description: "",
      input: z.object({}),
      about: () => "",
      execute: () => ({ text: "done", picture: `picture ${(count += 1)}` }),
    }),
  };
  const parts: LoopParts = {
    name: "scripted",
    ask: async (question) => ask(question, questions.push(question)),
    answers: new Map(),
    keep: () => Promise.resolve(),
    results,
    keepResult: (id, result) => Promise.resolve(void results.set(id, result)),
    instructions: "Work.",
    tools,
    maxSteps: 5,
    signal: new AbortController().signal,
    onTool: () => undefined,
  };
  return { parts, questions, results };
}

const picturesOf = ({ turns = [] }: Question): readonly unknown[] =>
  turns.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "file" ? [part.data] : [])),
  );
const asked = [{ role: "user" as const, content: "Look." }];

it("ask_server shows the newest picture to the model, also after it was taken up", async () => {
  const one = loopOf((_, count) => (count < 3 ? look : said));
  await runLoop(asked, one.parts);
  const shown = (data: string): unknown => ({ type: "data", data });
  expect(one.questions.map(picturesOf)).toEqual([[], [shown("picture 1")], [shown("picture 2")]]);
  const two = loopOf((_, count) => (count < 3 ? look : said));
  await runLoop(asked, { ...two.parts, results: one.results });
  expect(two.questions).toEqual(one.questions);
});

it("ask_server goes on without pictures when the model's server refuses them, and shows it no more", async () => {
  const refused = new AgentError("ERR_AGENT_PROVIDER", "no images", { status: 400 });
  const { parts, questions } = loopOf((question, count) => {
    if (picturesOf(question).length > 0) throw refused;
    return count < 4 ? look : said;
  });
  await runLoop(asked, parts);
  expect(questions.map((one) => picturesOf(one).length)).toEqual([0, 1, 0, 0]);
  expect(JSON.stringify(questions[2])).toContain("There is no picture: the model's server");
});
