import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { createListReader } from "../../src/plan/list-query.ts";
import { Problem } from "../../src/problem.ts";
import { listParameter, type ListParameter } from "../../src/resource/list-parameter.ts";

const parameters: Readonly<Record<string, ListParameter>> = {
  since: listParameter({
    schema: z.iso.date(),
    where: (date) => ({ createdAt: { gte: `${date}T00:00:00.000Z` } }),
  }),
  least: listParameter({
    schema: z.number().int().min(1),
    where: (least) => ({ stars: { gte: least } }),
  }),
  kinds: listParameter({
    schema: z.array(z.string()).max(2),
    where: (kinds) => ({ kind: { in: kinds } }),
  }),
  open: listParameter({
    schema: z.boolean().default(true),
    where: (open) => (open ? { closedAt: null } : undefined),
  }),
};

function read(text: string, all = parameters): unknown {
  const rules = { sortable: [], selectable: [], defaultSort: [], parameters: all };
  return createListReader(rules)(new URLSearchParams(text)).where;
}

describe("list parameters of one's own", () => {
  it.each([
    ["since=tomorrow", "since", "match"],
    ["since=2026-01-01&since=2026-01-02", "since", "once"],
    ["least=0", "least", "min"],
    ["least=x", "least", "type"],
    ["least=", "least", "type"],
    ["kinds=a,b,c", "kinds", "maxlength"],
    ["open=perhaps", "open", "type"],
  ])("refuse %s", (text, param, name) => {
    const errors = [expect.objectContaining({ param, name })];
    expect(() => read(text)).toThrow(expect.objectContaining({ status: 400, errors }));
  });

  it("are refused when they are required and missing", () => {
    const schema = z.string();
    const needed = { tenant: { schema, where: () => undefined, required: true } };
    const errors = [expect.objectContaining({ param: "tenant", name: "required" })];
    expect(() => read("", needed)).toThrow(expect.objectContaining({ errors }));
    expect(read("tenant=a", needed)).toBeUndefined();
  });

  it.each([
    ["open=false", undefined],
    ["", { closedAt: null }],
    ["open=", { closedAt: null }],
    ["open=false&least=2", { stars: { gte: 2 } }],
    ["open=false&kinds=a, b", { kind: { in: ["a", "b"] } }],
    [
      "since=2026-01-01",
      { and: [{ createdAt: { gte: "2026-01-01T00:00:00.000Z" } }, { closedAt: null }] },
    ],
  ])("become conditions: %s", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it("do not wait for a schema", () => {
    const slow = {
      slow: listParameter({ schema: z.string().refine(async () => true), where: () => ({}) }),
    };
    expect(() => read("slow=1", slow)).toThrow(RestError);
  });

  it("leave all others unknown, reported with those that are wrong", () => {
    try {
      read("wrong=1&least=0&page=0");
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(Problem);
      const errors = (error as Problem).errors.map(({ param, name }) => [param, name]);
      expect(errors).toEqual([
        ["wrong", "unknown"],
        ["page", "min"],
        ["least", "min"],
      ]);
    }
  });
});
