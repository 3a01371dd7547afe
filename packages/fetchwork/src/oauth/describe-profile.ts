import type { AccessToken } from "@fetchwork/oauth2";
import type { CommandOutput } from "../command/command-io.ts";
import { colours, jsonLine, oneLine } from "../command/terminal-text.ts";
import type { KeptProfile } from "./profile-store.ts";

/** The user who signed in. */
export interface ProfileUser {
  readonly sub: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** Prints a sign-in that was just made, without its secrets. */
export function printProfile(
  { name: profile, profile: { metadata, clientId, resource = [] } }: Omit<KeptProfile, "token">,
  token: AccessToken,
  user: ProfileUser | undefined,
  { asJson, stdout }: { readonly asJson: boolean; readonly stdout: CommandOutput },
): void {
  const { issuer } = metadata;
  const scope = token.scope?.split(" ").filter((one) => one !== "") ?? [];
  const expiresAt = isoTime(token.expiresAt);
  // Whether an expired token can be refreshed without a new sign-in.
  const refreshable = token.refreshToken !== undefined;
  if (asJson) {
    const shown = { profile, issuer, clientId, user: user ?? null, scope, resource };
    stdout.write(jsonLine({ ...shown, expiresAt, refreshable }));
    return;
  }
  const { green, dim } = colours(stdout);
  const names = [user?.name, user?.email, user?.sub].filter((one) => one !== undefined);
  const who = names.length === 0 ? "unknown user" : names.join(", ");
  const until = expiresAt === null ? "" : `, until ${expiresAt}`;
  const rows = [
    ["provider", issuer],
    ["client", clientId],
    ["user", who],
    ["scopes", scope.join(" ") || "not known"],
    ...(resource.length === 0 ? [] : [["resources", resource.join(" ")] as const]),
    ["refresh", refreshable ? "yes" : "no"],
  ] as const;
  stdout.write(`${oneLine(profile)}: ${green("valid")}${until}\n`);
  for (const [label, value] of rows) stdout.write(`  ${dim(label.padEnd(9))} ${oneLine(value)}\n`);
}

/** Seconds since 1970 as ISO 8601; those that no date can be are `null`. */
export function isoTime(seconds: number | undefined): string | null {
  if (seconds === undefined) return null;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
