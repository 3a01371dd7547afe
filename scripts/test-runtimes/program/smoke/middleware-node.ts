import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHandler, wrap } from "@fetchwork/http";
import { fileServer, profiler } from "@fetchwork/middleware/node";
import { expect, type Platform } from "../platform.ts";

/** Serves a file, a part of it, and not what is next to it; takes a profile of the processor. */
export async function smoke(platform: Platform): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fetchwork-smoke-"));
  try {
    await writeFile(join(folder, "a.txt"), "0123456789".repeat(50_000));
    const handler = wrap(
      fileServer(folder),
      profiler({ path: "/debug", addresses: ["127.0.0.1"] }),
    );
    const listener = await platform.listen((request) =>
      runHandler(handler, request, { peer: "127.0.0.1" }),
    );
    const ask = async (path: string, headers = {}): Promise<[Response, string]> => {
      const response = await fetch(`${listener.origin}${path}`, { headers });
      return [response, await response.text()];
    };
    const [whole, all] = await ask("/a.txt");
    expect("a file", [whole.status, all.length], [200, 500_000]);
    const [part, some] = await ask("/a.txt", { range: "bytes=10-14" });
    expect("a range", [part.status, some], [206, "01234"]);
    const etag = whole.headers.get("etag") ?? whole.headers.get("last-modified") ?? "";
    expect("a validator", etag === "", false);
    expect("what is outside", (await ask("/..%2f..%2fetc/passwd"))[0].status, 404);
    const [taken, profile] = await ask("/debug/pprof/profile?seconds=1");
    expect("a profile", [taken.status, "nodes" in JSON.parse(profile)], [200, true]);
    await listener.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
