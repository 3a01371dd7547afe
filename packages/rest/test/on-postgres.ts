import { beforeEach } from "vitest";
import { openInPostgres } from "../../documents/test/open-for-test.ts";
import { NO_POSTGRES } from "../../documents/test/postgres-server.ts";
import { useStores } from "./api-client.ts";

// A setup file of Vitest: the tests of a project run on PostgreSQL instead of a store in memory.
useStores(openInPostgres);
beforeEach(({ skip }) => {
  if (NO_POSTGRES !== undefined) skip(NO_POSTGRES);
});
