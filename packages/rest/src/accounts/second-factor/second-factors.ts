import { createHmac, randomBytes } from "node:crypto";
import {
  type CollectionDefinition,
  defineCollection,
  type Store,
  type Stored,
  VersionError,
} from "@fetchwork/documents";
import { constantTimeEqual } from "@fetchwork/kit";
import { digestOf } from "../secret-token.ts";
import type { UserResource } from "../users/define-user.ts";
import { type SignedIn, whileSignedIn } from "../users/while-signed-in.ts";
import { stepOfCode, totpUri } from "./totp.ts";

/** The second factor of a user, whose identifier is that of the document. */
export interface SecondFactor {
  /** Value that the secret is derived from, together with a key that is not in the store. */
  readonly nonce: string;
  /** Whether the user has shown a code of it. Until then it is not asked for. */
  readonly isConfirmed: boolean;
  /** Step of the last code that was taken: no code is good twice (RFC 6238 section 5.2). */
  readonly lastStep: number;
  /** SHA-256 of the recovery codes that are left, in hex. */
  readonly recovery: readonly string[];
}

export const secondFactorCollection: CollectionDefinition<SecondFactor> =
  defineCollection<SecondFactor>("second-factors");

/** Secret that an authenticator needs, in two forms. */
export interface Enrolment {
  /** In base32, to be typed. */
  readonly secret: string;
  /** The same as an address `otpauth://totp/…`, to be shown as a QR code. */
  readonly uri: string;
}

/** Second factors of users: codes by time (TOTP, RFC 6238), and recovery codes for lost devices. */
export interface SecondFactors {
  /** Whether codes are asked for when a user signs in. */
  isOn(user: string): Promise<boolean>;
  /** Makes a secret in place of an unconfirmed one; `undefined` when confirmed. */
  enrol(user: SignedIn, account: string): Promise<Enrolment | undefined>;
  /** Switches it on by a first code. Returns ten recovery codes once, else `undefined`. */
  confirm(user: SignedIn, code: string): Promise<readonly string[] | undefined>;
  /** Takes a code, or a recovery code. One of any number of uses at once succeeds. */
  take(user: string, code: string): Promise<boolean>;
  remove(user: string): Promise<boolean>;
}

const recoveryCodes = 10;

/** Makes {@link SecondFactors}. */
export function createSecondFactors({
  issuer,
  key,
  store,
  users,
}: {
  readonly store: Store;
  readonly users: UserResource;
  /** Key that secrets are derived with: with another one, only recovery codes still work. */
  readonly key: Uint8Array;
  /** Name that authenticators show with the account. */
  readonly issuer: string;
}): SecondFactors {
  const factors = store.collection(secondFactorCollection);
  const secretOf = (user: string, nonce: string): Buffer =>
    createHmac("sha256", key).update(`${user} ${nonce}`).digest().subarray(0, 20);

  return {
    async isOn(user) {
      return (await factors.get(user))?.isConfirmed === true;
    },
    async enrol(signedIn, account) {
      const user = signedIn.id;
      const nonce = randomBytes(16).toString("base64url");
      const factor = { nonce, isConfirmed: false, lastStep: 0, recovery: [] };
      const isBegun = await whileSignedIn(store, users, signedIn, async (transaction) => {
        const kept = transaction.collection(secondFactorCollection);
        if ((await kept.get(user))?.isConfirmed === true) return false;
        await kept.upsert(factor, { id: user });
        return true;
      });
      if (!isBegun) return undefined;
      const secret = base32(secretOf(user, nonce));
      return { secret, uri: totpUri(secret, { account, issuer }) };
    },
    async confirm(signedIn, code) {
      const user = signedIn.id;
      const found = await factors.get(user);
      if (found === undefined || found.isConfirmed) return undefined;
      const lastStep = stepOfCode(secretOf(user, found.nonce), code, Date.now());
      if (lastStep === undefined) return undefined;
      const codes = Array.from({ length: recoveryCodes }, recoveryCode);
      const recovery = codes.map(digest);
      // The version says whether it was confirmed or removed since.
      return (await change(found, { isConfirmed: true, lastStep, recovery })) ? codes : undefined;
    },
    async take(user, code) {
      const found = await factors.get(user);
      if (found?.isConfirmed !== true) return false;
      const now = stepOfCode(secretOf(user, found.nonce), code, Date.now());
      if (now !== undefined) return now > found.lastStep && change(found, { lastStep: now });
      const used = digest(code);
      const left = found.recovery.filter((one) => !constantTimeEqual(used, one));
      return left.length < found.recovery.length && change(found, { recovery: left });
    },
    remove: (user) => factors.remove(user),
  };

  async function change(
    factor: Stored<SecondFactor>,
    changed: Partial<SecondFactor>,
  ): Promise<boolean> {
    try {
      return (await factors.update(factor.id, changed, { ifVersion: factor })) !== undefined;
    } catch (error) {
      // Somebody else has used a code in this moment, perhaps the same one.
      if (error instanceof VersionError) return false;
      throw error;
    }
  }
}

/** 80 random bits, in four groups for the eye. */
function recoveryCode(): string {
  return (base32(randomBytes(10)).match(/.{4}/g) ?? []).join("-");
}

/** Spaces, dashes and case are as the user types them. */
function digest(code: string): string {
  return digestOf(code.replaceAll(/[\s-]/g, "").toUpperCase());
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Writes bytes in base32 without padding (RFC 4648 section 6), as authenticators read secrets. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((value >>> bits) & 31);
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31);
}
