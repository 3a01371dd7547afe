import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { openStore } from "@fetchwork/documents";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { freePort } from "../../../../test/free-port.ts";
import { noPostgres, notDurable, startPostgres } from "../../../documents/test/postgres-server.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { openAsUsers } from "../as-users.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  access: { list: "public", show: "public", create: "public", update: "public" },
});

/** Serves notes of a PostgreSQL that can be made to refuse connections. */
async function open() {
  const port = await freePort();
  const server = await startPostgres(["listen_addresses=127.0.0.1", `port=${port}`, ...notDurable]);
  onTestFinished(() => server.stop());
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("data", (data) => to.write(data));
      from.on("close", () => to.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const close = (): void => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(close);
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const store = await openStore(`postgres://postgres@127.0.0.1:${address.port}/postgres`);
  onTestFinished(() => store.close());
  const api = await openAsUsers(resourceRoutes(note, createResourceController(note)), {
    store,
    reportError: () => undefined,
  });
  const { json } = await api.as("", "POST", "/notes", { text: "t" });
  return { ...api, id: String(json.id), close };
}

describe.skipIf(noPostgres !== undefined)("a PostgreSQL of one address that is gone", () => {
  it(
    "is a 503 with Retry-After within five seconds, for reads and changes",
    { timeout: 60_000 },
    async () => {
      const { as, id, close } = await open();
      close();
      for (const attempts of [1, 2]) {
        const began = performance.now();
        const answers = await Promise.all([
          as("", "GET", "/notes"),
          as("", "GET", `/notes/${id}`),
          as("", "POST", "/notes", { text: "u" }),
          as("", "PATCH", `/notes/${id}`, { text: "u" }),
        ]);
        const took = performance.now() - began;
        for (const { status, headers } of answers) {
          expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
        }
        expect([attempts, took < 6_000, took]).toEqual([attempts, true, took]);
      }
    },
  );
});
