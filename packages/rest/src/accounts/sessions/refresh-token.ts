import { createHmac } from "node:crypto";
import { constantTimeEqual } from "@fetchwork/kit";

/** Claims of a refresh token: a session, and how often that session was refreshed before. */
export interface RefreshClaims {
  readonly session: string;
  readonly generation: number;
}

/** Makes and reads refresh tokens, signed so that an earlier turn is known without storing it. */
export interface RefreshTokens {
  make(claims: RefreshClaims): string;
  /** Returns `undefined` for what is not signed with this key. */
  read(token: string): RefreshClaims | undefined;
}

const format = /^fwr_([\w-]{1,64})\.(\d{1,10})\.([\w-]{43})$/;

/** Makes {@link RefreshTokens}: `fwr_`, session, generation, HMAC in base64url. */
export function createRefreshTokens(key: Uint8Array): RefreshTokens {
  const signature = (session: string, generation: string): string =>
    createHmac("sha256", key).update(`${session}.${generation}`).digest("base64url");

  return {
    make: ({ session, generation }) =>
      `fwr_${session}.${generation}.${signature(session, String(generation))}`,
    read(token) {
      const [, session = "", generation = "", signed = ""] = format.exec(token) ?? [];
      if (session === "" || !constantTimeEqual(signed, signature(session, generation))) {
        return undefined;
      }
      return { session, generation: Number(generation) };
    },
  };
}
