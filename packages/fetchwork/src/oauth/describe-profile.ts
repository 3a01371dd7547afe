import type { AccessToken } from "@fetchwork/oauth2";
import type { CommandIo } from "../command/command-io.ts";
import { colours, oneLine } from "../command/terminal-text.ts";
import type { Profile, ProfileUser } from "./profile.ts";

/** What is shown of a sign-in; no secrets. */
interface ProfileDescription {
  readonly profile: string;
  /** The provider. */
  readonly issuer: string;
  readonly clientId: string;
  readonly user: ProfileUser | null;
  readonly scope: readonly string[];
  readonly resource: readonly string[];
  /** ISO 8601; `null` when unknown. */
  readonly expiresAt: string | null;
  readonly expired: boolean;
  /** Whether an expired token can be refreshed without a new sign-in. */
  readonly refreshable: boolean;
}

/** Describes a sign-in. */
export function describeProfile(
  name: string,
  { metadata, clientId, user, resource = [] }: Profile,
  token: AccessToken,
): ProfileDescription {
  const { expiresAt } = token;
  return {
    profile: name,
    issuer: metadata.issuer,
    clientId,
    user: user ?? null,
    scope: token.scope?.split(" ").filter((one) => one !== "") ?? [],
    resource,
    expiresAt: isoTime(expiresAt),
    expired: token.token === "" || token.expired(),
    refreshable: token.refreshToken !== undefined,
  };
}

/** Prints a sign-in. */
export function printProfile(description: ProfileDescription, { stdout }: CommandIo): void {
  const { green, red, dim } = colours(stdout);
  const { profile, issuer, clientId, user, scope, resource, refreshable, expired } = description;
  const names = [user?.name, user?.email, user?.sub].filter((one) => one !== undefined);
  const who = names.length === 0 ? "unknown user" : names.join(", ");
  const state = expired ? (refreshable ? "expired, will be refreshed" : "expired") : "valid";
  const until = description.expiresAt === null ? "" : `, until ${description.expiresAt}`;
  const rows = [
    ["provider", issuer],
    ["client", clientId],
    ["user", who],
    ["scopes", scope.join(" ") || "not known"],
    ...(resource.length === 0 ? [] : [["resources", resource.join(" ")] as const]),
    ["refresh", refreshable ? "yes" : "no"],
  ] as const;
  const mark = expired && !refreshable ? red : green;
  stdout.write(`${oneLine(profile)}: ${mark(state)}${until}\n`);
  for (const [label, value] of rows) stdout.write(`  ${dim(label.padEnd(9))} ${oneLine(value)}\n`);
}

/** Seconds since 1970 as ISO 8601; those that no date can be are `null`. */
export function isoTime(seconds: number | undefined): string | null {
  if (seconds === undefined) return null;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
