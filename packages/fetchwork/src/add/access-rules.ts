import { CommandUsageError } from "../command/usage-error.ts";

/** Operations that have a rule. */
export const operations = ["list", "show", "create", "update", "remove"] as const;
export type OperationName = (typeof operations)[number];

/** Callers that may be allowed to do something. */
export const rules = ["public", "user", "owner", "admin", "master"] as const;
export type RuleName = (typeof rules)[number];

/** The rule of each operation. */
export type AccessRules = Readonly<Record<OperationName, RuleName>>;

/**
 * Reads the lists of operations given per rule. Operations not listed have default rules: everyone
 * reads, users create, and owners change. Without users all changes need the master key.
 *
 * @throws CommandUsageError
 */
export function accessRulesOf(
  given: Readonly<Partial<Record<RuleName, string | undefined>>>,
  { hasUsers }: { readonly hasUsers: boolean },
): AccessRules {
  const found = ruleOfEach(given, { hasUsers });
  const create = found.create ?? (hasUsers ? "user" : "master");
  // A document that everyone or the holder of the master key creates has no owner.
  const change = create === "user" || create === "admin" ? "owner" : create;
  const access = {
    list: found.list ?? "public",
    show: found.show ?? found.list ?? "public",
    create,
    update: found.update ?? change,
    remove: found.remove ?? found.update ?? change,
  } as const;
  checkOwned(access);
  return access;
}

function ruleOfEach(
  given: Readonly<Partial<Record<RuleName, string | undefined>>>,
  { hasUsers }: { readonly hasUsers: boolean },
): Readonly<Partial<Record<OperationName, RuleName>>> {
  const found: Partial<Record<OperationName, RuleName>> = {};
  for (const rule of rules) {
    const list = given[rule];
    if (list === undefined) continue;
    for (const operation of list.split(",")) {
      if (!isOperation(operation)) {
        const word = JSON.stringify(operation);
        throw new CommandUsageError(
          `--${rule} must list operations out of ${operations.join(", ")}, got ${word}`,
        );
      }
      const other = found[operation];
      if (other !== undefined)
        throw new CommandUsageError(`${operation} is listed in both --${other} and --${rule}`);
      found[operation] = rule;
    }
    if (!hasUsers && rule !== "public" && rule !== "master") {
      throw new CommandUsageError(`--${rule} requires users, but this project has none`);
    }
  }
  return found;
}

function checkOwned(access: AccessRules): void {
  const { create } = access;
  const isOwned = operations.find((operation) => access[operation] === "owner");
  if (isOwned !== undefined && (create === "public" || create === "master")) {
    throw new CommandUsageError(
      `--owner ${isOwned} requires create to be allowed to users or admins, who become owners`,
    );
  }
  if (create === "owner") throw new CommandUsageError("create cannot be restricted to the owner");
  if (access.show === "owner" && (access.list === "public" || access.list === "user")) {
    throw new CommandUsageError(
      "--owner show requires a list of no more documents: add --owner list or --admin list",
    );
  }
}

function isOperation(word: string): word is OperationName {
  return operations.some((operation) => operation === word);
}
