import { describeValue } from "@fetchwork/kit";
import { RestError } from "../errors.ts";
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
 * Checks that there are rules, and that each is one. Returns those that are given: one that is `undefined` counts as left
 * out.
 *
 * @throws RestError `ERR_REST_DEFINITION`
 */
export function checkAccess({
  access,
  name,
}: Pick<ResourceOptions<Schema>, "access" | "name">): ResourceOptions<Schema>["access"] {
  // Programs without types may leave it out.
  if ((access as unknown) === undefined) {
    const example = 'access: { list: "public", show: "public" }';
    throw new RestError("ERR_REST_DEFINITION", `${name} has no access rules, expected ${example}`);
  }
  const given = Object.entries<unknown>(access).filter(([, rule]) => rule !== undefined);
  for (const [operation, rule] of given) {
    if (typeof rule === "function" || rules.some((known) => known === rule)) continue;
    const expected = `a function or one of ${rules.join(", ")}`;
    const message = `access.${operation} of ${name} is ${describeValue(rule)}, expected ${expected}`;
    throw new RestError("ERR_REST_DEFINITION", message);
  }
  return Object.fromEntries(given);
}
