import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = `
  import { serve } from "@fetchwork/http/serve";
  import { text } from "@fetchwork/http";
  const server = await serve(() => text("ok"), { port: Number(process.env.PORT), hostname: "127.0.0.1" });
  console.log(server.port);
`;

async function startServer(port: number): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", "--input-type=module", "--eval", program],
    {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, port: Number(String(line)) };
}

/** Sends one request on a kept connection; resolves to what became of it. */
function send(agent: Agent, port: number): Promise<"ok" | "lost" | "not connected"> {
  return new Promise((resolve) => {
    const sent = request({ agent, port, host: "127.0.0.1" }, (response) => {
      response.resume().on("end", () => resolve("ok"));
    });
    sent.on("error", () => resolve(sent.reusedSocket ? "lost" : "not connected"));
    sent.end();
  });
}

it("A process that restarts 20 times under 20 clients resets no connection that was used", async () => {
  const counts = { ok: 0, lost: 0, "not connected": 0 };
  let isDone = false;
  let { child, port } = await startServer(0);
  const clients = Array.from({ length: 20 }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isDone) {
      const outcome = await send(agent, port);
      counts[outcome] += 1;
      if (outcome !== "ok") await new Promise((resolve) => setTimeout(resolve, 5));
    }
    agent.destroy();
  });
  for (let round = 0; round < 20; round += 1) {
    const before = counts.ok;
    while (counts.ok < before + 100) await new Promise((resolve) => setTimeout(resolve, 5));
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    ({ child, port } = await startServer(port));
  }
  isDone = true;
  await Promise.all(clients);
  child.kill("SIGKILL");
  expect(counts.ok).toBeGreaterThan(2000);
  expect(counts.lost).toBe(0);
}, 120_000);
