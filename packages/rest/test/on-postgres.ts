import { beforeEach } from "vitest";
import { openInPostgres } from "../../documents/test/open-for-test.ts";
import { noPostgres } from "../../documents/test/postgres-server.ts";
import { useStores } from "./api-client.ts";

// A setup file of Vitest: the tests of a project run on PostgreSQL instead of a store in memory.
useStores(openInPostgres);
beforeEach(({ skip }) => {
  if (noPostgres !== undefined) skip(noPostgres);
});
