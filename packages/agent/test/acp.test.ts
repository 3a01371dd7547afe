import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as sdk from "@agentclientprotocol/sdk";
import { expect, it, onTestFinished } from "vitest";
import { serveAcp, type ServeAcpOptions } from "../src/acp/index.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import { editScript } from "./edit-script.ts";
import { startModelServer, type ScriptedAnswer } from "./model-server.ts";

type Update = sdk.SessionUpdate;
type Decide = (asked: sdk.RequestPermissionRequest) => string | undefined | Promise<undefined>;

/**
 * An editor of a folder with one file, which it is connected with, and a model that has its answers
 * ready.
 */
async function editor(
  answers: readonly ScriptedAnswer[],
  { decide = () => "once", ...more }: ServeAcpOptions & { readonly decide?: Decide } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "acp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "a.js"), "export const a = 1;\n");
  const model = await startModelServer({ answers });
  onTestFinished(() => model.close());
  const updates: Update[] = [];
  const asked: sdk.RequestPermissionRequest[] = [];
  const app = sdk
    .client({ name: "editor" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", async ({ params }) => {
      asked.push(params);
      const optionId = await decide(params);
      return { outcome: optionId ? { outcome: "selected", optionId } : { outcome: "cancelled" } };
    });
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const toEditor = new TransformStream<Uint8Array, Uint8Array>();
  const writer = toEditor.writable.getWriter();
  const served = serveAcp({
    provider: openAICompatible({ baseUrl: model.baseUrl, model: "scripted" }),
    retry: { attempts: 1 },
    ...more,
    input: toAgent.readable,
    output: (bytes) => void writer.write(bytes),
  });
  const connection = app.connect(sdk.ndJsonStream(toAgent.writable, toEditor.readable));
  onTestFinished(async () => {
    connection.close();
    await toAgent.writable.close().catch(() => undefined);
    await served;
  });
  const { agent } = connection;
  const begun = await agent.request("initialize", { protocolVersion: sdk.PROTOCOL_VERSION });
  const session = await agent.request("session/new", { cwd: folder, mcpServers: [] });
  const { sessionId } = session;
  const prompt = (...blocks: readonly (sdk.ContentBlock | string)[]) =>
    agent.request("session/prompt", {
      sessionId,
      prompt: blocks.map((one) => (typeof one === "string" ? { type: "text", text: one } : one)),
    });
  const source = () => readFileSync(join(folder, "a.js"), "utf8");
  return { agent, asked, begun, folder, model, prompt, session, sessionId, source, updates };
}

function textOf(updates: readonly Update[], kind: Update["sessionUpdate"]): string {
  return updates
    .map((one) =>
      one.sessionUpdate === kind && "content" in one && !Array.isArray(one.content)
        ? (one.content as { readonly text?: string }).text
        : "",
    )
    .join("");
}

const toTwo = { path: "a.js", search: "a = 1", replace: "a = 2" };

it("the agent of an editor tells what it can, and begins a session that asks", async () => {
  const { begun, session } = await editor([]);
  expect(begun).toMatchObject({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true } },
  });
  expect(session.sessionId).toMatch(/^acp-[0-9a-f]{16}$/);
  expect(session.modes?.currentModeId).toBe("ask");
});

it("the agent of an editor shows each change with its difference, asks, and writes it", async () => {
  const { asked, folder, prompt, source, updates } = await editor(editScript([toTwo]));
  expect(await prompt("Make it two")).toEqual({ stopReason: "end_turn" });
  expect(source()).toBe("export const a = 2;\n");
  const place = join(folder, "a.js");
  expect(asked).toMatchObject([
    {
      toolCall: {
        title: "Write a.js",
        content: [
          {
            type: "diff",
            path: place,
            oldText: "export const a = 1;\n",
            newText: "export const a = 2;\n",
          },
        ],
      },
      options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
    },
  ]);
  const calls = updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
  expect(calls).toMatchObject([
    { title: "read a.js", kind: "read", status: "completed", locations: [{ path: place }] },
    { title: "edit a.js", kind: "edit", status: "completed" },
    { title: "Check: no new fault in 1 file", status: "completed" },
    { title: "Write a.js", status: "pending" },
  ]);
  expect(updates.at(-1)).toMatchObject({ sessionUpdate: "tool_call_update", status: "completed" });
  expect(textOf(updates, "agent_message_chunk")).toBe("It is done.");
});

it("the agent of an editor leaves what the editor refuses", async () => {
  const { prompt, source, updates } = await editor(editScript([toTwo]), { decide: () => "leave" });
  expect(await prompt("Make it two")).toEqual({ stopReason: "end_turn" });
  expect(source()).toBe("export const a = 1;\n");
  expect(updates.at(-1)).toMatchObject({ sessionUpdate: "tool_call_update", status: "failed" });
});

it("the agent of an editor asks no more once everything is allowed, or the mode says so", async () => {
  const { agent, asked, prompt, sessionId, source, updates } = await editor(
    [
      ...editScript([{ path: "a.js", search: "a = 2", replace: "a = 3" }], ["Now three"]),
      ...editScript([toTwo, { path: "b.js", content: "export const b = 1;\n" }]),
    ],
    { decide: () => "always" },
  );
  await prompt("Make it two");
  expect(asked).toHaveLength(1);
  expect(updates).toContainEqual({
    sessionUpdate: "current_mode_update",
    currentModeId: "write",
  });
  await prompt("Now three");
  expect(asked).toHaveLength(1);
  expect(source()).toBe("export const a = 3;\n");
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  await expect(
    agent.request("session/set_mode", { sessionId, modeId: "anything" }),
  ).rejects.toMatchObject({ code: -32602 });
});

it("the agent of an editor answers a question without a change, and goes on from there", async () => {
  const { model, prompt, updates } = await editor([
    ...editScript([toTwo], ["Make it two"]),
    { tool: "edit", text: "It holds the number one." },
  ]);
  const file = { uri: "file:///elsewhere/notes.md", text: "Numbers begin at one." };
  expect(await prompt("What is a.js for?", { type: "resource", resource: file })).toEqual({
    stopReason: "end_turn",
  });
  expect(textOf(updates, "agent_message_chunk")).toBe("It holds the number one.");
  await prompt("Make it two");
  const said = model.requests.at(-1)?.messages.join("\n");
  expect(said).toMatch(/Numbers begin at one[^]*It holds the number one[^]*Make it two/);
});

it("the agent of an editor names files of the folder as the tools do, and shows pictures to the model", async () => {
  const { folder, model, prompt } = await editor([{ tool: "edit", text: "I see." }]);
  const uri = pathToFileURL(join(folder, "a.js")).href;
  const data = Buffer.from("89504e470d0a1a0a0000000d", "hex").toString("base64");
  await prompt(
    "Look at ",
    { type: "resource_link", name: "a.js", uri },
    { type: "image", mimeType: "image/png", data },
  );
  expect(model.requests[0]?.messages.join("\n")).toContain("Look at a.js");
  expect(model.requests[0]?.images).toEqual([`data:image/png;base64,${data}`]);
});

it("the agent of an editor ends a prompt that is canceled, and takes the next one", async () => {
  const { agent, prompt, sessionId, source } = await editor(
    [{ match: ["Slowly"], delay: 20_000, text: "" }, ...editScript([toTwo])],
    {},
  );
  const first = prompt("Slowly");
  await expect(prompt("At once")).rejects.toMatchObject({ code: -32600 });
  await agent.notify("session/cancel", { sessionId });
  expect(await first).toEqual({ stopReason: "cancelled" });
  expect(await prompt("Make it two")).toEqual({ stopReason: "end_turn" });
  expect(source()).toBe("export const a = 2;\n");
});

it("the agent of an editor does not wait for a question that the editor never answers", async () => {
  const never = new Promise<undefined>(() => undefined);
  let ask = (): void => undefined;
  const wasAsked = new Promise<void>((resolve) => (ask = resolve));
  const { agent, prompt, sessionId, source } = await editor(editScript([toTwo]), {
    decide: () => {
      ask();
      return never;
    },
  });
  const first = prompt("Make it two");
  await wasAsked;
  await agent.notify("session/cancel", { sessionId });
  expect(await first).toEqual({ stopReason: "cancelled" });
  expect(source()).toBe("export const a = 1;\n");
});

it("the agent of an editor lists sessions of a folder, and loads one with what was said", async () => {
  const { agent, folder, prompt, sessionId, updates } = await editor(editScript([toTwo]));
  await prompt("Make it two");
  const { sessions } = await agent.request("session/list", { cwd: folder });
  expect(sessions).toMatchObject([{ sessionId, cwd: folder, title: "Make it two" }]);
  updates.length = 0;
  await agent.request("session/load", { sessionId, cwd: folder, mcpServers: [] });
  expect(textOf(updates, "user_message_chunk")).toBe("Make it two");
  expect(textOf(updates, "agent_message_chunk")).toBe("It is done.");
});

it("the agent of an editor changes protected files only where it asks", async () => {
  const workflow = { path: ".github/workflows/ci.yml", content: "on: push\njobs: {}\n" };
  const { agent, asked, folder, prompt, sessionId } = await editor([
    ...editScript([workflow], ["By myself"]),
    ...editScript([workflow]),
  ]);
  await agent.request("session/set_mode", { sessionId, modeId: "write" });
  await prompt("By myself").catch(() => undefined);
  expect(() => readFileSync(join(folder, workflow.path))).toThrow("ENOENT");
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  await prompt("Add a workflow");
  expect(readFileSync(join(folder, workflow.path), "utf8")).toBe(workflow.content);
  expect(asked).toHaveLength(1);
});

it("the agent of an editor asks about a protected file also after everything was allowed", async () => {
  const workflow = { path: ".github/workflows/ci.yml", content: "on: push\njobs: {}\n" };
  const { asked, folder, prompt } = await editor(editScript([toTwo, workflow]), {
    decide: ({ toolCall }) => (toolCall.title === "Write a.js" ? "always" : "leave"),
  });
  await prompt("Add a workflow");
  expect(asked.map(({ toolCall }) => toolCall.title)).toContain(`Write ${workflow.path}`);
  expect(() => readFileSync(join(folder, workflow.path))).toThrow("ENOENT");
});

it.each([
  ["a relative folder", { cwd: "src", mcpServers: [] }],
  ["a folder that is none", { cwd: "/nowhere/at/all", mcpServers: [] }],
  [
    "two servers of one name",
    {
      cwd: tmpdir(),
      mcpServers: [1, 2].map(() => ({ name: "x", command: "x", args: [], env: [] })),
    },
  ],
  [
    "a server of events",
    { cwd: tmpdir(), mcpServers: [{ type: "sse" as const, name: "x", url: "x", headers: [] }] },
  ],
])("the agent of an editor refuses a session with %s", async (_, wanted) => {
  const { agent } = await editor([]);
  await expect(agent.request("session/new", wanted)).rejects.toMatchObject({ code: -32602 });
});

it.each(["acp-0000000000000000", "../../etc", "r1"])(
  "the agent of an editor loads no session %s",
  async (sessionId) => {
    const { agent, folder } = await editor([]);
    mkdirSync(join(folder, ".fetchwork"), { recursive: true });
    const load = agent.request("session/load", { sessionId, cwd: folder, mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: -32002 });
  },
);

it("the agent of an editor tells what went wrong, and stays", async () => {
  const { prompt, source } = await editor([
    { match: ["Fail"], fault: { kind: "status", status: 401 } },
    ...editScript([toTwo]),
  ]);
  await expect(prompt("Fail")).rejects.toMatchObject({ code: -32603 });
  await expect(prompt(" ")).rejects.toMatchObject({ code: -32603 });
  await prompt("Make it two");
  expect(source()).toBe("export const a = 2;\n");
});
