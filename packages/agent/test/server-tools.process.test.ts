import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findBrowser } from "../src/loop/sandbox-tools.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { nodeTest } from "../src/verify/node-verifiers.ts";
import { startModelServer, type ScriptedAnswer } from "./model-server.ts";

const page = `<!doctype html><title>Red</title><body style="background:#f00;margin:0">
<script>console.warn("painted"); undefinedFunction();</script>`;
const server = `import { createServer } from "node:http";
import { readFileSync } from "node:fs";
createServer((_, response) => {
  response.setHeader("content-type", "text/html");
  response.end(readFileSync("page.html"));
}).listen(3000);
`;

/** An edit whose model calls `calls` first. */
async function edited(calls: ScriptedAnswer["calls"] = []) {
  const out = mkdtempSync(join(tmpdir(), "server-tools-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  writeFileSync(join(out, "page.html"), page);
  writeFileSync(join(out, "server.mjs"), server);
  const done = { name: "write", arguments: { path: "done.txt", content: "done\n" } };
  const model = await startModelServer({
    answers: [{ times: 1, calls: [...calls, done] }, { text: "It is done." }],
  });
  onTestFinished(() => model.close());
  const provider = openAICompatible({ baseUrl: model.baseUrl, model: "scripted" });
  const agent = createAgent({ provider, verifiers: [nodeTest()] });
  await agent.edit({ request: "Look at it", out }).result;
  const [, asked] = model.requests;
  return { told: asked?.messages.join("\n") ?? "", images: asked?.images ?? [] };
}

it("the tool ask_server starts a server and asks it inside of the sandbox", async () => {
  const call = { command: "node server.mjs", port: 3000, path: "/" };
  const { told } = await edited([{ name: "request", arguments: call }]);
  expect(told).toContain("HTTP 200 OK");
  expect(told).toContain("<title>Red</title>");
});

it.skipIf(findBrowser() === undefined).each([
  ["a file", { path: "page.html?a=1" }],
  ["a server", { path: "/", command: "node server.mjs", port: 3000 }],
])(
  "the tool ask_server shows the model a picture of %s from the sandbox, and its console",
  async (_, input) => {
    const { told, images } = await edited([{ name: "screenshot", arguments: input }]);
    expect(told).toContain('"painted"');
    expect(told).toContain("undefinedFunction is not defined");
    expect(told).not.toContain("fetchwork-agent-");
    expect(images).toHaveLength(1);
    expect(images[0]).toMatch(/^data:image\/png;base64,iVBORw0KGgo/);
  },
);

it.skipIf(findBrowser() === undefined)(
  "the tool ask_server opens no file that is not one of the program",
  async () => {
    const call = { name: "screenshot", arguments: { path: "../../etc/hostname" } };
    const { told, images } = await edited([call]);
    expect(told).toContain("Refused: There is no file ../../etc/hostname.");
    expect(images).toEqual([]);
  },
);
