import { UniqueError } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { refuseConflicts } from "../../src/operations/refuse-conflicts.ts";

describe("refuseConflicts", () => {
  it.each([
    [["email"], "email", "email is already registered"],
    [["text", "mood"], "text", "the combination of text, mood is already registered"],
    [[], "", "a unique value is already registered"],
  ])("answers with 409 where %j is taken", async (fields, param, message) => {
    await expect(
      refuseConflicts(Promise.reject(new UniqueError("users", fields))),
    ).rejects.toMatchObject({
      status: 409,
      errors: [{ param, name: "unique", message }],
    });
  });
});
