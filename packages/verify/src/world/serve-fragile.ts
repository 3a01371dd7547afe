import { flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";
import { openStore } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import type { Service } from "@fetchwork/service";
import { type SentRequest, openFragile } from "./fragile-service.ts";
import type { Sent, Served } from "./second-process.ts";

// The program of `SecondProcess`: it kills itself after the changes that each request has.
try {
  const [, , given = ""] = process.argv;
  const { database, module, settings, ...served } = JSON.parse(given) as Served;
  const exported: unknown[] = Object.values((await import(pathToFileURL(module).href)) as object);
  const service = exported.find(
    (one): one is Service => isObject(one) && one["name"] === served.service && "config" in one,
  );
  if (service === undefined) throw new Error(`it does not export ${served.service}`);
  const store = await openStore(database, { collections: service.collections });
  const { handle } = openFragile(service, store, settings, () =>
    process.kill(process.pid, "SIGKILL"),
  );
  process.on("message", (request: SentRequest) => void respond(handle(request)));
  process.on("disconnect", () => process.exit());
  // A process that is killed keeps nothing by itself.
  flushCompileCache();
  send({});
} catch (error) {
  send({ reason: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}

async function respond(handled: Promise<Response | undefined>): Promise<void> {
  const response = await handled;
  if (response) send({ status: response.status, text: await response.text() });
}

function send(sent: Sent): void {
  process.send?.(sent);
}
