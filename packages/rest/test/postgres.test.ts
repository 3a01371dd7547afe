import { describe } from "vitest";
import { openInPostgres } from "../../documents/test/open-for-test.ts";
import { NO_POSTGRES } from "../../documents/test/postgres-server.ts";
import { useStores } from "./api-client.ts";

describe.skipIf(NO_POSTGRES)(`on PostgreSQL${NO_POSTGRES ? `: ${NO_POSTGRES}` : ""}`, async () => {
  useStores(openInPostgres);
  await import("./relations/relations.test.ts");
  await import("./relations/populate.test.ts");
  await import("./bulk/bulk.test.ts");
  await import("./idempotency.test.ts");
  await import("./operations/list.test.ts");
  await import("./operations/restore.test.ts");
  await import("./hooks.test.ts");
  await import("./resource-access.test.ts");
});
