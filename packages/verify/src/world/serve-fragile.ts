import { pathToFileURL } from "node:url";
import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { isObject } from "@fetchwork/kit";
import type { Service } from "@fetchwork/service";
import { openFragile } from "./open-fragile.ts";
import type { Served } from "./second-process.ts";

// The program of `SecondProcess`: it sends its URL, and receives the number of changes after which it is killed.
try {
  const [, , given = ""] = process.argv;
  const { database, module, settings, ...served } = JSON.parse(given) as Served;
  const exported: unknown[] = Object.values((await import(pathToFileURL(module).href)) as object);
  const service = exported.find(
    (one): one is Service => isObject(one) && one["name"] === served.service && "config" in one,
  );
  if (service === undefined) throw new Error(`it does not export ${served.service}`);
  const store = await openStore(database, { collections: service.collections });
  const { fragile, opened } = openFragile(service, store, { settings, end: kill });
  const { url } = await serve(opened.handler, { port: 0, hostname: "127.0.0.1" });
  process.on("message", ({ changes = Infinity }: { readonly changes?: number }) => {
    fragile.endAfter(changes);
    process.send?.({});
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ url });
} catch (error) {
  process.send?.({ reason: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}

function kill(): void {
  process.kill(process.pid, "SIGKILL");
}
