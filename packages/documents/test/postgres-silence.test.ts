import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore, type Store } from "../src/index.ts";
import { freePort } from "../../../test/free-port.ts";
import { noPostgres, notDurable, startPostgres } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes");
const connectionError = { code: "ERR_DOCUMENTS_CONNECTION" };
const shortLimits = { statementTimeout: 500, connectTimeout: 2_000, failoverTimeout: 4_000 };

/**
 * Opens a store whose network can be made to swallow everything, as when the other side vanishes.
 */
async function open(): Promise<{ readonly store: Store; readonly silence: () => void }> {
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, ...notDurable];
  const server = await startPostgres(settings);
  onTestFinished(() => server.stop());
  const sockets: Socket[] = [];
  let isSilent = false;
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.push(from);
      from.on("error", () => undefined);
      from.on("data", (data) => {
        if (!isSilent) to.write(data);
      });
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const store = await openStore(`postgres://postgres@127.0.0.1:${address.port}/postgres`, {
    collections: [notes],
    postgres: shortLimits,
  });
  const silence = (): void => {
    isSilent = true;
  };
  return { store, silence };
}

describe.skipIf(noPostgres !== undefined)("A server that falls silent", () => {
  it("is given up by reads, changes and transactions", { timeout: 60_000 }, async () => {
    const { store, silence } = await open();
    const collection = store.collection(notes);
    const { id } = await collection.insert({ text: "a" });
    // So that connections are there which do not know it yet.
    await Promise.all(Array.from({ length: 8 }, () => collection.get(id)));
    const begun = Promise.withResolvers<undefined>();
    const gate = Promise.withResolvers<undefined>();
    const transaction = store.transaction(
      async (tx) => {
        await tx.collection(notes).get(id);
        begun.resolve(undefined);
        await gate.promise;
        await tx.collection(notes).update(id, { text: "b" });
      },
      { timeout: 2000 },
    );
    await begun.promise;
    silence();
    gate.resolve(undefined);
    await Promise.all([
      expect(transaction).rejects.toMatchObject({ code: "ERR_DOCUMENTS_TIMEOUT" }),
      expect(collection.get(id)).rejects.toMatchObject(connectionError),
      expect(collection.insert({ text: "b" })).rejects.toMatchObject(connectionError),
      expect(collection.update(id, { text: "b" })).rejects.toMatchObject(connectionError),
      expect(collection.update(id, (note) => note)).rejects.toMatchObject(connectionError),
    ]);
    await store.close();
  });

  it("does not keep a store from closing", { timeout: 60_000 }, async () => {
    const { store, silence } = await open();
    await Promise.all(Array.from({ length: 4 }, () => store.collection(notes).count()));
    silence();
    await store.close();
  });
});
