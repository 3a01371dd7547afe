import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { Connections } from "../src/postgres/connections.ts";
import { readChanges } from "../src/postgres/feed.ts";
import { parsePostgresOptions } from "../src/postgres/postgres-options.ts";
import { parsePostgresUrl } from "../src/postgres/postgres-url.ts";
import { FreeSession, type Session } from "../src/postgres/session.ts";
import { createStamps } from "../src/stamps.ts";
import { newDatabase } from "./open-for-test.ts";
import { NO_POSTGRES } from "./postgres-server.ts";

const ours = defineCollection<{ n: number }>("ours", { changes: "documents" });
const theirs = defineCollection<{ n: number }>("theirs", { changes: "documents" });

describe.skipIf(NO_POSTGRES !== undefined)("The feed of PostgreSQL", () => {
  it.each([undefined, ["ours"]])(
    "fetches no more documents than it gives, of the collections %j",
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
      const session = new FreeSession(connections, createStamps());
      let fetched = 0;
      const watched: Session = {
        stamps: session.stamps,
        write: (statement) => session.write(statement),
        together: (work) => session.together(work),
        read: async (statement) => {
          const result = await session.read(statement);
          fetched += result.rows.filter((row) => row[6]?.startsWith("{")).length;
          return result;
        },
      };
      const query = { after: undefined, collections, limit: 3 };
      const { changes } = await readChanges(watched, query, { isDistributed: false });
      expect(changes.map(({ document }) => Object(document).n)).toEqual(
        collections === undefined ? [0, 0, 0] : [0, 0, 1],
      );
      expect(fetched).toBe(3);
    },
  );
});
