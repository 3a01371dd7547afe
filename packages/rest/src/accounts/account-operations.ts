import type { OperationTypes, ResourceTypes } from "../route-types.ts";

/** A user as somebody sees it: name and picture are `null` for others until the user sets them. */
export interface ShownUser {
  readonly id: string;
  readonly name: string | null;
  readonly picture: string | null;
  readonly email?: string;
  readonly role?: "user" | "admin";
  readonly emailVerified?: boolean;
  readonly createdAt?: string;
}

/** A user as it sees itself, and as admins do. */
export interface OwnUser extends ShownUser {
  readonly name: string;
  readonly picture: string;
  readonly email: string;
  readonly role: "user" | "admin";
  readonly createdAt: string;
}

/** How a session began. */
export type SignInMethod = "password" | "passkey" | "provider";

/** Response to a sign-in. */
export interface SessionResponse<Self = OwnUser> {
  /** Sent as `access_token` or Bearer header. */
  readonly token: string;
  /** Validity of the token, in seconds. */
  readonly expiresIn: number;
  /** Good for one `POST /auth/refresh`. */
  readonly refreshToken: string;
  readonly user: Self;
}

/** A session as its user sees it. */
export interface ShownSession {
  readonly id: string;
  readonly method: SignInMethod;
  /** Address of the client at the sign-in; `null` when it is unknown. */
  readonly address: string | null;
  /** `User-Agent` at the sign-in; `null` when it is unknown. */
  readonly agent: string | null;
  /** Whether it is the one that asks. */
  readonly isCurrent: boolean;
  readonly createdAt: string;
  /** Last refresh, ISO 8601. */
  readonly usedAt: string;
  readonly expiresAt: string;
}

/** An API key as its user sees it. */
export interface ShownKey {
  readonly id: string;
  readonly name: string;
  /** Scopes of the key, such as `articles:read`. */
  readonly scopes: readonly string[];
  readonly createdAt: string;
  /** Last use, to about a minute; `null` before the first one. */
  readonly usedAt: string | null;
  /** ISO 8601; `null`: never. */
  readonly expiresAt: string | null;
}

/** A passkey as its user sees it. */
export interface ShownPasskey {
  readonly id: string;
  readonly name: string;
  /** Whether the passkey is synchronised to other devices (WebAuthn flag BS). */
  readonly isBackedUp: boolean;
  readonly createdAt: string;
  /** Last sign-in with it, ISO 8601; `null` before the first one. */
  readonly usedAt: string | null;
}

/** An account of a provider that a user signs in with, as its user sees it. */
export interface ShownLink {
  readonly id: string;
  /** Name of the provider; `null` for one that is not offered any more. */
  readonly provider: string | null;
  readonly createdAt: string;
}

/** Switching the second factor on: first the secret, then, for a code of it, the recovery codes. */
export interface SecondFactorResponse {
  /** The secret in Base32, to be typed into an authenticator; shown once. */
  readonly secret?: string;
  /** The same as an `otpauth:` URI, for a QR code. */
  readonly uri?: string;
  /** Ten codes that each replace a code once; shown once. */
  readonly recoveryCodes?: readonly string[];
}

/** Fields to create a user, and, except email, password and role, to change one. */
export interface UserInput {
  readonly email: string;
  readonly password: string;
  readonly name?: string | null | undefined;
  readonly picture?: string | null | undefined;
  readonly role?: "user" | "admin" | undefined;
  /** Page that confirms the address, for a sign-up that is open to everyone. */
  readonly link?: string | undefined;
}

/** The code of a second factor, sent next to the credentials. */
export interface Code {
  /** Code of the second factor, or a recovery code, where the user has one. */
  readonly totp?: string | undefined;
}

/** Types of the routes of accounts, where users have own fields, for the typed client. */
export type AccountOperation<Own = unknown, Given = unknown, Self = OwnUser & Partial<Own>> =
  | ProviderOperation
  | ResourceTypes<"users", ShownUser & Partial<Own>, UserInput & Given>
  | OperationTypes<"updatePassword", "id", Code & { readonly password: string }, Self>
  | OperationTypes<"updateRole", "id", { readonly role: "user" | "admin" }, Self>
  | OperationTypes<"signIn", never, Code | undefined, SessionResponse<Self>>
  | OperationTypes<"signOut", never, undefined, undefined>
  | OperationTypes<"signInPage", never, Code | undefined, { readonly user: Self }>
  | OperationTypes<"signOutPage", never, undefined, undefined>
  | OperationTypes<
      "refreshSession",
      never,
      { readonly refreshToken: string },
      SessionResponse<Self>
    >
  | OperationTypes<"listSessions", "id", undefined, readonly ShownSession[]>
  | OperationTypes<"endSessions", "id", undefined, undefined>
  | OperationTypes<"endSession", "id" | "session", undefined, undefined>
  | OperationTypes<"listKeys", "id", undefined, readonly ShownKey[]>
  | OperationTypes<
      "createKey",
      "id",
      { readonly name: string; readonly scopes: readonly string[]; readonly expiresAt?: string },
      ShownKey & { readonly key: string }
    >
  | OperationTypes<"removeKey", "id" | "key", undefined, undefined>
  | OperationTypes<"enableSecondFactor", "id", Code | undefined, SecondFactorResponse>
  | OperationTypes<"disableSecondFactor", "id", Code | undefined, undefined>
  | OperationTypes<"beginPasskey", never, undefined, object>
  | OperationTypes<
      "registerPasskey",
      never,
      { readonly name: string; readonly response: object },
      ShownPasskey
    >
  | OperationTypes<"beginPasskeySignIn", never, undefined, object>
  | OperationTypes<"signInWithPasskey", never, { readonly response: object }, SessionResponse<Self>>
  | OperationTypes<"listPasskeys", "id", undefined, readonly ShownPasskey[]>
  | OperationTypes<"removePasskey", "id" | "passkey", undefined, undefined>
  | OperationTypes<
      "changeEmail",
      "id",
      Code & { readonly email: string; readonly link: string },
      undefined
    >
  | OperationTypes<"confirmEmail", "token", { readonly password?: string } | undefined, Self>
  | OperationTypes<
      "createPasswordReset",
      never,
      { readonly email: string; readonly link: string },
      undefined
    >
  | OperationTypes<
      "showPasswordReset",
      "token",
      undefined,
      {
        readonly token: string;
        readonly user: Pick<ShownUser, "email" | "id" | "name" | "picture">;
      }
    >
  | OperationTypes<"usePasswordReset", "token", { readonly password: string }, Self>;

/** Types of the routes of providers. */
export type ProviderOperation =
  | OperationTypes<"linkProvider", "provider", undefined, { readonly url: string }>
  | OperationTypes<"showProviderUser", "provider", undefined, { readonly sub: string }>
  | OperationTypes<"listLinks", "id", undefined, readonly ShownLink[]>
  | OperationTypes<"removeLink", "id" | "link", undefined, { readonly revoked: boolean }>;
