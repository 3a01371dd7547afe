import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, constants, type ClientHttp2Session } from "node:http2";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { makeCertificates } from "../../node-client/certificates.ts";

const tls = makeCertificates().server;

const program = `
  import { serve } from "@fetchwork/http/serve";
  import { text } from "@fetchwork/http";
  const { cert, key } = JSON.parse(process.env.TLS);
  const server = await serve(() => text("ok"), {
    port: Number(process.env.PORT),
    hostname: "127.0.0.1",
    ...(cert && { http2: true, tls: { cert, key } }),
  });
  console.log(server.port);
`;

async function startServer(
  port: number,
  files: Partial<typeof tls>,
): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", "--input-type=module", "--eval", program],
    {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      env: { ...process.env, PORT: String(port), TLS: JSON.stringify(files) },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, port: Number(String(line)) };
}

/** What became of a request; `lost` is one on a connection that had answered another. */
type Outcome = "ok" | "lost" | "not connected";

/** Sends requests one after the other on a connection that is kept. */
interface Client {
  send(port: number): Promise<Outcome>;
  close(): void;
}

function createHttp1Client(): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (port) =>
      new Promise((resolve) => {
        const sent = request({ agent, port, host: "127.0.0.1" }, (response) => {
          response.resume().on("end", () => resolve("ok"));
        });
        sent.on("error", () => resolve(sent.reusedSocket ? "lost" : "not connected"));
        sent.end();
      }),
    close: () => agent.destroy(),
  };
}

function createHttp2Client(): Client {
  let session: ClientHttp2Session | undefined;
  let isUsed = false;
  const open = (port: number): ClientHttp2Session => {
    isUsed = false;
    // Each error of the session ends its streams, where it is counted.
    return connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on(
      "error",
      () => {},
    );
  };
  return {
    send: (port) =>
      new Promise((resolve) => {
        // A session that was told to go away is closed for new streams.
        if (session === undefined || session.closed || session.destroyed) session = open(port);
        const wasUsed = isUsed;
        let status: number | undefined;
        const stream = session.request({ ":path": "/" });
        stream.on("response", (headers) => (status = headers[":status"]));
        stream.on("error", () => {});
        stream.resume().on("close", () => {
          isUsed = true;
          if (status === 200 && stream.rstCode === 0) resolve("ok");
          // A refused stream was not processed, so clients send it again by themselves (RFC 9113,
          // section 8.7).
          else if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) resolve("not connected");
          else resolve(wasUsed ? "lost" : "not connected");
        });
      }),
    close: () => session?.destroy(),
  };
}

it.each([
  ["HTTP/1.1", createHttp1Client, {}],
  ["HTTP/2", createHttp2Client, tls],
] as const)(
  "A process that restarts 20 times under 20 clients of %s resets no connection that was used",
  async (_version, createClient, files) => {
    const counts = { ok: 0, lost: 0, "not connected": 0 };
    let isDone = false;
    let { child, port } = await startServer(0, files);
    const clients = Array.from({ length: 20 }, async () => {
      const client = createClient();
      while (!isDone) {
        const outcome = await client.send(port);
        counts[outcome] += 1;
        if (outcome !== "ok") await new Promise((resolve) => setTimeout(resolve, 50));
      }
      client.close();
    });
    for (let round = 0; round < 20; round += 1) {
      const before = counts.ok;
      while (counts.ok < before + 100) await new Promise((resolve) => setTimeout(resolve, 5));
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
      ({ child, port } = await startServer(port, files));
    }
    isDone = true;
    await Promise.all(clients);
    child.kill("SIGKILL");
    expect(counts.ok).toBeGreaterThan(2000);
    expect(counts.lost).toBe(0);
  },
  240_000,
);
