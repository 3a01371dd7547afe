import type { ServerMetadata } from "@fetchwork/oauth2/oidc";
import { CommandUsageError } from "../command/usage-error.ts";
import type { CommandIo } from "../command/command-io.ts";

/** The settings of a sign-in, stored with its token. */
export interface Profile {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string | undefined;
  /** The provider's metadata. */
  readonly metadata: ServerMetadata;
  readonly resource?: readonly string[] | undefined;
}

/** Name of the sign-in where none is named. */
export const defaultProfile = "default";

/** The option of every command that works on one sign-in. */
export const profileOptions = {
  profile: {
    type: "string",
    short: "p",
    hint: "name",
    description: "Name of the sign-in (default: FETCHWORK_OAUTH_PROFILE, or default)",
  },
} as const;

/**
 * Finds the name of the sign-in.
 *
 * @throws CommandUsageError
 */
export function profileNameOf(
  { profile }: { readonly profile?: string | undefined },
  { env }: CommandIo,
): string {
  const name = profile ?? (env["FETCHWORK_OAUTH_PROFILE"] || defaultProfile);
  if (/^[A-Za-z\d][\w.@-]{0,63}$/.test(name)) return name;
  throw new CommandUsageError(
    "--profile must consist of at most 64 letters, digits, dots, dashes, @ and _",
  );
}
