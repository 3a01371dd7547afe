import type { ServerMetadata } from "@fetchwork/oauth2/oidc";
import { UsageError } from "../usage-error.ts";
import type { CommandIo } from "../command-io.ts";
import type { CommandOption } from "../command.ts";

/** How a client proves who it is, where no metadata says it. */
export type ClientAuthentication = "basic" | "post";

/** What a sign-in is made with; kept beside its token. */
export interface Profile {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string | undefined;
  /** Default: what the metadata says, else `basic`. */
  readonly clientAuthentication?: ClientAuthentication | undefined;
  /** What the provider says of itself. */
  readonly metadata: ServerMetadata;
  /** Whether `metadata` is that of an OpenID provider or authorization server; else it was put together of options. */
  readonly isDiscovered: boolean;
  readonly resource?: readonly string[] | undefined;
  /** Who signed in, when the provider said so. */
  readonly user?: ProfileUser | undefined;
}

/** Who signed in. */
export interface ProfileUser {
  readonly sub: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** The option of every command that works on one sign-in. */
export const profileOptions: {
  readonly profile: CommandOption & {
    readonly type: "string";
    readonly multiple?: false;
    readonly default?: never;
  };
} = {
  profile: {
    type: "string",
    short: "p",
    hint: "name",
    description: "Name of the sign-in (default: FETCHWORK_OAUTH_PROFILE, else default)",
  },
};

/**
 * Finds the name of the sign-in.
 *
 * @throws UsageError
 */
export function profileNameOf(
  { profile }: { readonly profile?: string | undefined },
  { env }: CommandIo,
): string {
  const name = profile ?? (env["FETCHWORK_OAUTH_PROFILE"] || "default");
  if (/^[A-Za-z\d][\w.@-]{0,63}$/.test(name)) return name;
  throw new UsageError("--profile must be at most 64 letters, digits, dots, dashes, @ and _");
}
