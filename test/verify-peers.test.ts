import { describe, expect, it } from "vitest";
import { runMatrix } from "../scripts/verify-peers/matrix.ts";
import { findingsTable, matrixTable } from "../scripts/verify-peers/report.ts";
import { type Leak, leaks, startStandIn } from "./verify-peers/stand-in.ts";

/** One finding that each fault has to be found by: code, field, caller and way. */
const expected: Readonly<Record<Leak, string>> = {
  "shows the secret field in a list": "field-read secret other user list",
  "shows the hash of the password": "field-read hash of a password anonymous list",
  "shows kept notes by a parameter": "field-read title anonymous list with a query",
  "shows the author with the email": "field-read author.email anonymous show",
  "filters by the secret field": "field-inferred secret other user filter",
  "filters by the beginning of the hash": "field-inferred hash owner filter",
  "filters by the email of the author": "field-inferred author.email anonymous filter",
  "sorts by the secret field": "field-inferred secret anonymous sort",
  "takes changes of others": "field-written title other user update",
  "takes the owner from the body of a change": "field-written owner owner update",
  "takes the owner from the body of a creation": "field-written owner owner create",
  "takes notes of nobody": "document-written - anonymous create",
  "removes notes of others": "document-written - other user remove",
  "fails for an identifier": "server-error - anonymous GET",
  "ends the connection for a body": "no-response - anonymous POST",
};

describe("runMatrix()", () => {
  it("reports nothing on a server that keeps its promises, and what its callers get to", async () => {
    await using standIn = await startStandIn();
    const report = await runMatrix(standIn.api);
    expect(report.findings).toEqual([]);
    expect(report.requests).toBeGreaterThan(200);
    expect(matrixTable(report).split("\n")).toEqual([
      "| field | anonymous | other user | owner |",
      "| --- | --- | --- | --- |",
      "| `note.title` | r | r | rw |",
      "| `note.secret` |  |  | rw |",
    ]);
    expect(findingsTable(report.findings)).toBe("no findings");
  });

  it.each(leaks)("finds that a server %s", async (leak) => {
    await using standIn = await startStandIn(leak);
    const { findings } = await runMatrix(standIn.api);
    const keys = findings.map(
      ({ caller, code, field = "-", way }) => `${code} ${field} ${caller} ${way}`,
    );
    expect(keys).toContain(expected[leak]);
    const codes = new Set(findings.map(({ code }) => code));
    expect([...codes]).toEqual([expected[leak].split(" ")[0]]);
  });

  it("shows the request of each finding", async () => {
    await using standIn = await startStandIn("removes notes of others");
    const { findings } = await runMatrix(standIn.api);
    expect(findingsTable(findings)).toMatch(
      /^\| document-written \| `note` \| other user \| remove \| `DELETE \/notes\/\d+` \| 204 \|$/m,
    );
  });
});
