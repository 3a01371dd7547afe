import { STATUS_CODES } from "node:http";
import { describe, expect, it } from "vitest";
import { Problem } from "../src/index.ts";

/** Node has the names that RFC 9110 replaced, and two that are not registered. */
const renamed: Readonly<Record<string, string>> = {
  413: "Content Too Large",
  422: "Unprocessable Content",
};
const unregistered = new Set(["418", "509"]);

describe("Problem", () => {
  it("has the name of its status as the title, whichever it is", async () => {
    const expected: Record<string, string> = {};
    const titles: Record<string, string> = {};
    for (const [status, name] of Object.entries(STATUS_CODES)) {
      if (Number(status) < 400 || unregistered.has(status)) continue;
      expected[status] = renamed[status] ?? name ?? "";
      titles[status] = (await new Problem(Number(status)).toResponse().json()).title;
    }
    expect(titles).toEqual(expected);
    expect(Object.keys(titles).length).toBeGreaterThan(35);
  });

  it("says no more than that it is an error of a status without a name", async () => {
    const { title, detail } = await new Problem(599).toResponse().json();
    expect([title, detail]).toEqual(["Error", "Error"]);
  });
});
