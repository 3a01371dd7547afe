import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A passkey in memory, which signs as authenticators do (WebAuthn Level 3, 6). */
export interface SoftwareAuthenticator {
  readonly credential: string;
  /** Answers what `navigator.credentials.create` is given. */
  register(options: { challenge: string; rp: { id?: string } }, made?: Made): RegistrationJson;
  /** Answers what `navigator.credentials.get` is given. */
  signIn(options: { challenge: string; rpId?: string }, made?: Made): AssertionJson;
}

/** What an authenticator or a browser says otherwise than it should. */
export interface Made {
  readonly origin?: string;
  readonly type?: string;
  /** Bits of presence (1) and verification (4) of the user. Default: both. */
  readonly flags?: number;
  readonly userHandle?: string;
  readonly rpId?: string;
}

interface RegistrationJson {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
}

interface AssertionJson {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string | undefined;
  };
}

/** Makes a {@link SoftwareAuthenticator} with a new key (ES256). */
export function softwareAuthenticator(userHandle?: string): SoftwareAuthenticator {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(32);
  const credential = id.toString("base64url");
  let counter = 0;

  function authenticatorData({ flags = 5 }: Made, rpId: string, attested?: Buffer): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE((counter += 1));
    const bits = Buffer.from([flags | (attested ? 0x40 : 0)]);
    return Buffer.concat([sha256(rpId), bits, count, ...(attested ? [attested] : [])]);
  }

  function clientData(type: string, challenge: string, made: Made): Buffer {
    const { origin = "http://localhost" } = made;
    return Buffer.from(
      JSON.stringify({ type: made.type ?? type, challenge, origin, crossOrigin: false }),
    );
  }

  return {
    credential,
    register({ challenge, rp }, made = {}) {
      // COSE_Key of kty 2 (EC2), alg -7 (ES256), crv 1 (P-256), x and y (RFC 9053 section 7.1).
      const cose = Buffer.concat([
        Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
        Buffer.from(x, "base64url"),
        Buffer.from([0x22, 0x58, 0x20]),
        Buffer.from(y, "base64url"),
      ]);
      const length = Buffer.from([0, id.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, cose]);
      const data = authenticatorData(made, made.rpId ?? rp.id ?? "", attested);
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText("fmt"),
        cborText("none"),
        cborText("attStmt"),
        Buffer.from([0xa0]),
        cborText("authData"),
        Buffer.from([0x58, data.length]),
        data,
      ]);
      return {
        id: credential,
        rawId: credential,
        type: "public-key",
        response: {
          clientDataJSON: clientData("webauthn.create", challenge, made).toString("base64url"),
          attestationObject: attestationObject.toString("base64url"),
        },
      };
    },
    signIn({ challenge, rpId = "" }, made = {}) {
      const data = authenticatorData(made, made.rpId ?? rpId);
      const client = clientData("webauthn.get", challenge, made);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return {
        id: credential,
        rawId: credential,
        type: "public-key",
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
          userHandle: made.userHandle ?? userHandle,
        },
      };
    },
  };
}

function sha256(value: string | Buffer): Buffer {
  return createHash("sha256").update(value).digest();
}

/** Text of fewer than 24 bytes (RFC 8949 section 3). */
function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 | text.length]), Buffer.from(text)]);
}
