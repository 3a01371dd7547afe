import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { RawClient } from "../raw-client.ts";

// Two servers in one process, as an application with a metrics port has them.
const program = `
  import { serve } from "@fetchwork/http/serve";
  import { text } from "@fetchwork/http";
  const options = { port: 0, hostname: "127.0.0.1" };
  const other = await serve(() => text("other"), options);
  const server = await serve((request, context) => {
    if (request.url.endsWith("/background")) {
      context.waitUntil(new Promise((resolve) => setTimeout(resolve, 50)).then(() => console.log("background")));
      return text("accepted");
    }
    if (request.url.endsWith("/database")) {
      void server.finished.then(() => setTimeout(() => console.log("database closed"), 200));
      return text("opened");
    }
    for (const signal of ["SIGTERM", "SIGINT"]) {
      process.once(signal, () => {
        setImmediate(() => console.log("stopping"));
        setTimeout(() => console.log("later"), 550).unref();
      });
    }
    console.log("started");
    return new Promise((resolve) => process.once("SIGUSR2", () => resolve(text("finished"))));
  }, options);
  void server.finished.then(() => console.log("finished"));
  console.log(server.port);
`;

class Child {
  readonly process = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", "--input-type=module", "--eval", program],
    {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  readonly exited = once(this.process, "exit");
  output = "";

  constructor() {
    this.process.stdout.setEncoding("utf8");
    this.process.stdout.on("data", (chunk: string) => {
      this.output += chunk;
    });
  }

  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.output)) await once(this.process.stdout, "data");
    return this.output;
  }

  async port(): Promise<number> {
    return Number(/^\d+/.exec(await this.until(/^\d+\n/))?.[0]);
  }

  /** Waits until the server has ended its listening, which follows the signal. */
  async refusesConnections(): Promise<void> {
    const port = await this.port();
    for (;;) {
      const socket = connect(port, "127.0.0.1");
      const refused = await once(socket, "connect").then(
        () => false,
        () => true,
      );
      socket.destroy();
      if (refused) return;
      await setTimeout(20);
    }
  }

  async request(path: string): Promise<RawClient> {
    const client = new RawClient(await this.port());
    client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return client;
  }
}

describe("a process with servers", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends with 0 after %s, when requests in flight have their responses",
    async (signal) => {
      const child = new Child();
      const client = await child.request("/");
      await child.until(/started/);
      child.process.kill(signal);
      await child.refusesConnections();
      child.process.kill("SIGUSR2");
      expect(await client.closed).toMatch(/^HTTP\/1\.1 200 OK[^]*connection: close[^]*finished$/i);
      expect(await child.exited).toEqual([0, null]);
      expect(child.output).toMatch(/finished\n$/);
    },
  );

  it("counts two SIGINTs at once, as npm sends them, as one", async () => {
    const child = new Child();
    const client = await child.request("/");
    await child.until(/started/);
    child.process.kill("SIGINT");
    child.process.kill("SIGINT");
    await child.until(/stopping/);
    child.process.kill("SIGINT");
    child.process.kill("SIGUSR2");
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 OK[^]*finished$/);
    expect(await child.exited).toEqual([0, null]);
  });

  it("is not ended by the second of two SIGINTs when the servers have stopped in between", async () => {
    const child = new Child();
    const client = await child.request("/database");
    await client.until(/opened/);
    child.process.kill("SIGINT");
    await child.until(/finished/);
    child.process.kill("SIGINT");
    expect(await child.exited).toEqual([0, null]);
    expect(child.output).toMatch(/finished\ndatabase closed\n$/);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)(
    "ends at once with its number after a second %s that comes later",
    async (signal, code) => {
      const child = new Child();
      const client = await child.request("/");
      await child.until(/started/);
      child.process.kill(signal);
      await child.until(/later/);
      child.process.kill(signal);
      expect(await child.exited).toEqual([code, null]);
      expect(await client.closed).toBe("");
    },
  );

  it("waits for work that follows the response", async () => {
    const child = new Child();
    const client = await child.request("/background");
    await client.until(/accepted/);
    child.process.kill("SIGTERM");
    expect(await child.exited).toEqual([0, null]);
    expect(child.output).toMatch(/background\nfinished\n$/);
  });
});
