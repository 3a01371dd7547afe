import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { Connections } from "../src/engines/postgres/connections/connections.ts";
import { parsePostgresOptions } from "../src/engines/postgres/connections/settings.ts";
import { parsePostgresUrl } from "../src/engines/postgres/connections/address.ts";
import { FreeSession, type Session } from "../src/engines/postgres/connections/session.ts";
import { readChangesPastGaps } from "../src/engines/postgres/read-changes.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres } from "./postgres-server.ts";

const ours = defineCollection<{ n: number }>("ours", { changes: "documents" });
const theirs = defineCollection<{ n: number }>("theirs", { changes: "documents" });

describe.skipIf(noPostgres !== undefined)("The feed of PostgreSQL", () => {
  it.each([undefined, ["ours"]])(
    "fetches no more documents than it returns, of the collections %j",
    async (collections) => {
      const url = await newDatabase();
      const store = await openStore(url, { collections: [ours, theirs] });
      onTestFinished(() => store.close());
      for (let n = 0; n < 10; n += 1) {
        await store.collection(theirs).insertMany([{ n }, { n }]);
        await store.collection(ours).insertMany([{ n }, { n }]);
      }
      const connections = new Connections(parsePostgresUrl(url), parsePostgresOptions());
      onTestFinished(() => connections.close());
      const session = new FreeSession(connections);
      let fetched = 0;
      const watched: Session = {
        write: (statement) => session.write(statement),
        together: (work) => session.together(work),
        read: async (statement) => {
          const result = await session.read(statement);
          fetched += result.rows.filter((row) => String(row[6]).startsWith("{")).length;
          return result;
        },
      };
      const query = { after: undefined, collections, limit: 3 };
      const { changes } = await readChangesPastGaps(watched, query);
      expect(changes.map(({ document }) => Object(document).n)).toEqual(
        collections === undefined ? [0, 0, 0] : [0, 0, 1],
      );
      expect(fetched).toBe(3);
    },
  );

  it("says that changes are missing, when another process trims it while it is read", async () => {
    const url = await newDatabase();
    const store = await openStore(url, { collections: [ours] });
    onTestFinished(() => store.close());
    await store.collection(ours).insertMany([{ n: 1 }, { n: 2 }]);
    const [first] = await Array.fromAsync(store.changes({ atEnd: "end" }));
    const connections = new Connections(parsePostgresUrl(url), parsePostgresOptions());
    onTestFinished(() => connections.close());
    const session = new FreeSession(connections);
    let isTrimmed = false;
    const overtaken: Session = {
      write: (statement) => session.write(statement),
      together: (work) => session.together(work),
      read: async (statement) => {
        if (statement.name === "fetchwork:changes" && !isTrimmed) {
          isTrimmed = true;
          await store.trimChanges({ before: "9999-01-01T00:00:00.000Z" });
          await store.collection(ours).insert({ n: 3 });
        }
        return session.read(statement);
      },
    };
    const query = { after: first?.position, collections: undefined, limit: 10 };
    await expect(readChangesPastGaps(overtaken, query)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_POSITION",
    });
  });
});
