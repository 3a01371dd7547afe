import { MetadataError } from "../errors.ts";
import type { JwtHeader, RemoteJwks } from "./remote-jwks.ts";
import type { VerificationKey } from "./verify-jwt.ts";

/** Makes the key finder of a token: the client secret for `HS256`, else a key of the server. */
export function createKeySource(
  secret: string | null,
  jwks: RemoteJwks | undefined,
): (header: JwtHeader) => VerificationKey | Promise<VerificationKey> {
  return (header) => {
    if (header.alg.startsWith("HS")) {
      // Only where the options name it: the default has no such algorithm.
      if (secret !== null) return new TextEncoder().encode(secret);
      throw new MetadataError(`${header.alg} needs a client secret`);
    }
    if (jwks === undefined) throw new MetadataError("the server has no jwks_uri");
    return jwks.getKey(header);
  };
}
