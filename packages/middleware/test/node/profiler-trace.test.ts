import { spawn } from "node:child_process";
import { text as readText } from "node:stream/consumers";
import { expect, it } from "vitest";

// Tracing belongs to the main thread, and tests run in a worker or a fork.
const program = `
  const { profiler } = await import(${JSON.stringify(new URL("../../src/node/profiler.ts", import.meta.url).href)});
  const { createContext, wrap } = await import("@fetchwork/http");
  const handler = wrap(() => new Response("next"), profiler("127.0.0.1"));
  const request = new Request("http://localhost/pprof/trace?seconds=0.2");
  const response = await handler(request, createContext(request, { peer: "127.0.0.1" }));
  const { traceEvents } = await response.json();
  console.log(response.status, Array.isArray(traceEvents), traceEvents.length > 0);
`;

it("profilerTrace records events of Node and V8", async () => {
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", "--input-type=module", "-e", program],
    { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] },
  );
  expect((await readText(child.stdout)).trim()).toBe("200 true true");
});
