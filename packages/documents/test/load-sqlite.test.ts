import { expect, it, vi } from "vitest";
import { openStore } from "../src/index.ts";

it("A Node without node:sqlite is reported with the version that is needed", async () => {
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  await expect(openStore("sqlite::memory:")).rejects.toMatchObject({
    code: "ERR_DOCUMENTS_OPEN",
    message: expect.stringMatching(/^Node \S+ has no node:sqlite, expected Node 22\.19 or later$/),
  });
  vi.restoreAllMocks();
});
