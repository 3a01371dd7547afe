import type { AccessToken } from "@fetchwork/oauth2";
import type { CommandOutput } from "../command/command-io.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import type { Profile } from "./profile.ts";

/** Prints a sign-in, without its secrets. */
export function printProfile(
  profile: string,
  { metadata, clientId, user, resource = [] }: Profile,
  token: AccessToken,
  { asJson, stdout }: { readonly asJson: boolean; readonly stdout: CommandOutput },
): void {
  const { issuer } = metadata;
  const scope = token.scope?.split(" ").filter((one) => one !== "") ?? [];
  const expiresAt = isoTime(token.expiresAt);
  const expired = token.token === "" || token.expired();
  // Whether an expired token can be refreshed without a new sign-in.
  const refreshable = token.refreshToken !== undefined;
  if (asJson) {
    const shown = { profile, issuer, clientId, user: user ?? null, scope, resource };
    stdout.write(jsonLine({ ...shown, expiresAt, expired, refreshable }));
    return;
  }
  const { green, red, dim } = colours(stdout);
  const names = [user?.name, user?.email, user?.sub].filter((one) => one !== undefined);
  const who = names.length === 0 ? "unknown user" : names.join(", ");
  const state = expired ? (refreshable ? "expired, will be refreshed" : "expired") : "valid";
  const until = expiresAt === null ? "" : `, until ${expiresAt}`;
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
