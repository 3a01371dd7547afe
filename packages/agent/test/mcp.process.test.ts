import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asSchema } from "ai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { AgentError, AgentUsageError } from "../src/errors.ts";
import { ToolRefusal } from "../src/loop/changed-files.ts";
import type { LoopTools } from "../src/loop/loop-tool.ts";
import type { McpServer } from "../src/loop/mcp-server.ts";
import { withMcpTools } from "../src/loop/mcp-tools.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import type { AgentEvent } from "../src/run/agent-event.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { startHttpServer } from "./mcp-server.ts";
import { startModelServer, type ScriptedAnswer } from "./model-server.ts";

const program = join(import.meta.dirname, "mcp-server.ts");
const secret = "s3cr3t-value";
const never = new AbortController().signal;
const times = { start: 5_000, call: 5_000 };

function byStdio(mode: string, log?: string): McpServer {
  const command = [process.execPath, program, mode, ...(log === undefined ? [] : [log])];
  return { name: "files", command, env: { TOKEN: secret } };
}

async function byHttp(mode: string) {
  const server = await startHttpServer(mode);
  onTestFinished(() => void server.close());
  const headers = { authorization: `Bearer ${secret}` };
  return { ...server, server: { name: "files", url: server.url, headers } };
}

function folder(): string {
  const out = mkdtempSync(join(tmpdir(), "mcp-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  return out;
}

const callOf =
  (name: string, input: unknown = {}) =>
  async (tools: LoopTools): Promise<unknown> =>
    tools[`files__${name}`]?.execute(input, never);

/** Whether a process is there that is not only waiting to be reaped. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe("servers of mcp", () => {
  it.each([
    ["no array", "files"],
    ["no object", ["files"]],
    ["a name with underscores", [{ name: "a__b", command: ["x"] }]],
    ["no name", [{ command: ["x"] }]],
    ["neither command nor url", [{ name: "a" }]],
    ["both", [{ name: "a", command: ["x"], url: "https://a.example" }]],
    ["an empty command", [{ name: "a", command: [] }]],
    ["a command with NUL", [{ name: "a", command: ["x", `${secret}\0`] }]],
    ["a command as a text", [{ name: "a", command: secret }]],
    ["another protocol", [{ name: "a", url: `file:///${secret}` }]],
    ["a password", [{ name: "a", url: `https://u:${secret}@a.example` }]],
    ["env of numbers", [{ name: "a", command: ["x"], env: { [secret]: 1 } }]],
    [
      "headers with line breaks",
      [{ name: "a", url: "https://a.example", headers: { b: `${secret}\n` } }],
    ],
    ["headers of a program", [{ name: "a", command: ["x"], headers: {} }]],
    [
      "two of one name",
      [
        { name: "a", command: ["x"] },
        { name: "a", url: "https://a.example" },
      ],
    ],
  ])("are refused with %s", (_, mcp) => {
    const make = () => createAgent({ mcp: mcp as readonly McpServer[] });
    expect(make).toThrow(AgentUsageError);
    expect(make).toThrow(/^mcp must have servers (?!.*s3cr3t)/);
  });
});

describe("a server by stdio", () => {
  it.each([
    ["exit", "ended (3)"],
    ["silent", "was silent for 0.5 s"],
    ["garbage", "was silent for 0.5 s"],
    ["endless", "was silent for 0.5 s"],
    ["endless line", "sent a message that is too long"],
  ])("that does %s ends the run", async (mode, message) => {
    const start = mode === "exit" || mode === "endless line" ? 10_000 : 500;
    const made = withMcpTools([byStdio(mode)], never, async () => 1, { ...times, start });
    await expect(made).rejects.toMatchObject({
      code: "ERR_AGENT_MCP",
      message: `the MCP server files ${message}`,
    });
  });

  it("that cannot be started ends the run, and all others are closed", async () => {
    const log = join(folder(), "log");
    const nothing = { name: "nothing", command: ["/no/such/program", secret] };
    const made = withMcpTools([byStdio("", log), nothing], never, async () => 1);
    await expect(made).rejects.toThrow("the MCP server nothing cannot be started (ENOENT)");
    expect(isAlive(Number(readFileSync(log, "utf8")))).toBe(false);
  });

  it("has its tools called, and has nothing of our environment but PATH and HOME", async () => {
    vi.stubEnv("OPENAI_API_KEY", secret);
    onTestFinished(() => void vi.unstubAllEnvs());
    await withMcpTools([byStdio("")], never, async (tools) => {
      expect(Object.keys(tools)).toContain("files__a_b");
      expect(tools["files__read"]).toMatchObject({
        mayDiffer: true,
        description: "Does read.\uFFFD[2J",
      });
      expect(await callOf("read", { path: "a" })(tools)).toBe('read of the server: {"path":"a"}');
      expect(JSON.parse(String(await callOf("env")(tools)))).toEqual({
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        TOKEN: secret,
      });
      expect(await callOf("escapes")(tools)).toBe("red: \uFFFD[31m\uFFFD\nend");
      expect(await callOf("picture")(tools)).toBe("(image image/png, not shown)");
      const long = String(await callOf("long")(tools));
      expect(long).toMatch(/… \d+ characters are left out …/);
      expect(long.length).toBeLessThan(12_100);
      await expect(callOf("fail")(tools)).rejects.toEqual(new ToolRefusal("it is not there"));
      await expect(callOf("refuse")(tools)).rejects.toEqual(
        new ToolRefusal("it is wrong\uFFFD[2J"),
      );
    });
  });

  it("that ends, or is silent, in a call ends the run", async () => {
    await expect(withMcpTools([byStdio("")], never, callOf("exit"))).rejects.toThrow(
      new AgentError("ERR_AGENT_MCP", "the MCP server files ended (4)"),
    );
    const late = { ...times, call: 200 };
    await expect(withMcpTools([byStdio("")], never, callOf("wait"), late)).rejects.toThrow(
      "the MCP server files was silent for 0.2 s",
    );
    const stop = AbortSignal.timeout(1_000);
    await expect(withMcpTools([byStdio("")], stop, callOf("wait"), times)).rejects.toThrow(
      expect.objectContaining({ code: "ERR_AGENT_TIMEOUT" }),
    );
  });

  it("leaves no process behind, nor a child, though it does not end by itself", async () => {
    const log = join(folder(), "log");
    await withMcpTools([byStdio("stubborn", log)], never, callOf("read"));
    const pids = readFileSync(log, "utf8").split("\n").slice(0, 2).map(Number);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it("ends with a process that is killed", async () => {
    const log = join(folder(), "log");
    const module = new URL("../src/loop/mcp-tools.ts", import.meta.url).href;
    const code = `import { withMcpTools } from ${JSON.stringify(module)};
      const never = new AbortController().signal;
      await withMcpTools(${JSON.stringify([byStdio("", log)])}, never, async (tools) => {
        await tools.files__read.execute({}, never);
        return new Promise(() => setInterval(() => undefined, 1_000));
      });`;
    const flags = ["--conditions=@fetchwork/source", "--input-type=module"];
    const child = spawn(process.execPath, [...flags, "-e", code], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const called = () => expect(readFileSync(log, "utf8")).toContain("read\n");
    await vi.waitFor(called, { timeout: 20_000 });
    const pid = Number.parseInt(readFileSync(log, "utf8"), 10);
    expect(isAlive(pid)).toBe(true);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
  }, 40_000);

  it("that cannot be started does not matter for a run that was stopped before", async () => {
    const nothing = { name: "nothing", command: ["/no/such/program"] };
    const made = withMcpTools([nothing], AbortSignal.abort(), async () => 1);
    await expect(made).rejects.toMatchObject({ code: "ERR_AGENT_CANCELLED" });
  });

  it("has 40 tools at most together with others, and a long schema is not shown", async () => {
    const servers = [
      { ...byStdio("many"), name: "many" },
      { ...byStdio("schema"), name: "schema" },
    ];
    await withMcpTools(servers, never, async (tools) => {
      expect(Object.keys(tools)).toHaveLength(40);
      const huge = tools["schema__huge"];
      expect(huge?.description).toContain("too long to be shown");
      expect(huge && (await asSchema(huge.input).jsonSchema)).toEqual({
        type: "object",
        properties: {},
      });
    });
  });
});

describe("a server by HTTP", () => {
  it("has its tools called, with its headers", async () => {
    const { server, headers } = await byHttp("");
    await withMcpTools([server], never, async (tools) => {
      expect(await callOf("read", { path: "a" })(tools)).toBe('read of the server: {"path":"a"}');
      await expect(callOf("fail")(tools)).rejects.toEqual(new ToolRefusal("it is not there"));
      expect(String(await callOf("long")(tools)).length).toBeLessThan(12_100);
    });
    expect(new Set(headers)).toEqual(new Set([`Bearer ${secret}`]));
  });

  it.each([
    ["broken", "responded with the status 500"],
    ["silent", "was silent for 0.5 s"],
    ["away", "responded with what the protocol does not allow"],
  ])("that is %s ends the run", async (mode, message) => {
    const { server } = await byHttp(mode);
    const made = withMcpTools([server], never, async () => 1, { ...times, start: 500 });
    await expect(made).rejects.toMatchObject({ message: `the MCP server files ${message}` });
  });

  it("that is not there ends the run", async () => {
    const { server, close } = await byHttp("");
    await close();
    await expect(withMcpTools([server], never, async () => 1)).rejects.toThrow(
      "the MCP server files cannot be reached (ECONNREFUSED)",
    );
  });
});

describe("an edit with a server", () => {
  const called = (name: string, input: unknown = {}) => ({ name, arguments: input });
  const write = called("write", { path: "a.js", content: "export const a = 2;\n" });

  async function world(answers: readonly ScriptedAnswer[]) {
    const out = folder();
    writeFileSync(join(out, "a.js"), "export const a = 1;\n");
    const model = await startModelServer({ answers });
    onTestFinished(() => model.close());
    const log = join(folder(), "log");
    const provider = openAICompatible({ baseUrl: model.baseUrl, model: "scripted" });
    const agent = createAgent({ provider, retry: { attempts: 1 }, mcp: [byStdio("", log)] });
    const calls = () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => /^[a-z]/.test(line));
    return { out, model, agent, calls };
  }

  it("calls its tool as named, and ours that has the same name without", async () => {
    const { out, agent, model, calls } = await world([
      { last: "user", calls: [called("files__read"), called("read", { path: "a.js" }), write] },
      { last: "tool", match: ["read of the server"], text: "It is done." },
    ]);
    const handle = agent.edit({ request: "double it", out });
    const tools: AgentEvent[] = [];
    for await (const event of handle) if (event.type === "tool") tools.push(event);
    expect(await handle.result).toMatchObject({ ok: true });
    expect(tools).toMatchObject([
      { name: "files__read", ok: true },
      { name: "read", ok: true },
      { name: "write", ok: true },
    ]);
    expect(calls()).toEqual(["read"]);
    expect(model.requests[1]?.messages.join("\n")).toContain("export const a = 1;");
  });

  it("does not call again what is in the journal when it is resumed", async () => {
    const { out, agent, calls } = await world([
      { last: "user", calls: [called("files__read"), write] },
      { last: "tool", times: 1, fault: { kind: "status", status: 401 } },
      { last: "tool", match: ["read of the server"], text: "It is done." },
    ]);
    await expect(agent.edit({ request: "double it", out, runId: "e1" }).result).rejects.toThrow();
    expect(await agent.resume("e1", { out }).result).toMatchObject({ ok: true });
    expect(calls()).toEqual(["read"]);
  });

  it("ends, and writes nothing, when it ends", async () => {
    const { out, agent } = await world([{ last: "user", calls: [write, called("files__exit")] }]);
    await expect(agent.edit({ request: "double it", out }).result).rejects.toMatchObject({
      code: "ERR_AGENT_MCP",
    });
    expect(readFileSync(join(out, "a.js"), "utf8")).toBe("export const a = 1;\n");
  });
});
