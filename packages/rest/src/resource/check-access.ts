import { describeValue } from "@fetchwork/kit";
import { check } from "../errors.ts";
import type { Schema } from "../schema.ts";
import type { ResourceRule } from "./access-rules.ts";
import type { ResourceOptions } from "./resource-options.ts";

const rules = Object.keys({
  public: true,
  user: true,
  owner: true,
  admin: true,
  master: true,
} satisfies Record<Extract<ResourceRule, string>, true>);

/**
 * Checks that there are rules, and that each is one. Returns those that are given: one that is
 * `undefined` counts as left out.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export function checkAccess({
  access,
  name,
}: Pick<ResourceOptions<Schema>, "access" | "name">): ResourceOptions<Schema>["access"] {
  // Programs without types may leave it out.
  const example = 'access: { list: "public", show: "public" }';
  check((access as unknown) !== undefined, `${name} has no access rules, expected ${example}`);
  const given = Object.entries<unknown>(access).filter(([, rule]) => rule !== undefined);
  for (const [operation, rule] of given) {
    const isRule = typeof rule === "function" || rules.some((known) => known === rule);
    const expected = `a function or one of ${rules.join(", ")}`;
    check(isRule, `access.${operation} of ${name} must be ${expected}, got ${describeValue(rule)}`);
  }
  return Object.fromEntries(given);
}
