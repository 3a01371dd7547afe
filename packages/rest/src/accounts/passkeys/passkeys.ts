import { DocumentsError, type Store, type Stored, UniqueError } from "@fetchwork/documents";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { Problem } from "../../problem.ts";
import { isSecret, newSecret } from "../secret-token.ts";
import type { StoredUser, UserResource } from "../users/define-user.ts";
import { type SignedIn, whileSignedIn } from "../users/while-signed-in.ts";
import { challengeCollection, type Passkey, passkeyCollection, passkeyId } from "./passkey.ts";

/** The user that a passkey is made for. */
export interface PasskeyHolder {
  readonly id: string;
  readonly email: string;
}

/** Passkeys of users: signing in by what the user has and is or knows (WebAuthn Level 3). */
export interface Passkeys {
  /** Makes the options of `navigator.credentials.create`; good for five minutes. */
  beginRegistration(user: PasskeyHolder): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /**
   * Keeps the passkey that the browser made.
   *
   * @throws Problem 422 for a response that does not hold, 409 for a passkey that is known already
   * and when the user has 50 passkeys, 401 when the sessions of the user have ended since.
   */
  finishRegistration(
    user: SignedIn,
    made: { readonly name: string; readonly response: RegistrationResponseJSON },
  ): Promise<Stored<Passkey>>;
  /** Input of `navigator.credentials.get` for five minutes; tells nobody's passkeys. */
  beginSignIn(): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /**
   * Finds the user who signed the challenge, as it was when the passkey was still its: no session
   * begins with it once what it signs in with has ended. `undefined` for a passkey that is not
   * known.
   *
   * @param count - Counts the check of a response for a user as an attempt.
   * @throws Problem 422 for a response that does not hold.
   */
  finishSignIn(
    response: AuthenticationResponseJSON,
    count: <T>(user: string, check: () => Promise<T>) => Promise<T>,
  ): Promise<Stored<StoredUser> | undefined>;
  list(user: string): Promise<readonly Stored<Passkey>[]>;
  remove(user: string, id: string): Promise<boolean>;
}

/** Time from a challenge to its response, in milliseconds. */
const responseTime = 300_000;

const maxPasskeys = 50;

/** Options of {@link createPasskeys}. */
export interface PasskeysOptions {
  readonly store: Store;
  readonly users: UserResource;
  /** Origin of pages that ask for passkeys, `https://example.com`; its host: relying party. */
  readonly origin: string;
  /** Name of the application, as browsers show it. */
  readonly title: string;
}

/** Makes {@link Passkeys}. `@simplewebauthn/server` is loaded with the first request. */
export function createPasskeys({ origin, store, title, users }: PasskeysOptions): Passkeys {
  const rpID = new URL(origin).hostname;
  const passkeys = store.collection(passkeyCollection);
  const challenges = store.collection(challengeCollection);
  const find = (user: string): Promise<readonly Stored<Passkey>[]> =>
    passkeys.find({ where: { user }, sort: ["createdAt"], limit: maxPasskeys });

  return {
    async beginRegistration({ id, email }) {
      const { generateRegistrationOptions } = await loadLibrary();
      const [challenge, known] = await Promise.all([newChallenge(id), find(id)]);
      return generateRegistrationOptions({
        rpName: title,
        rpID,
        userID: new Uint8Array(Buffer.from(id)),
        userName: email,
        userDisplayName: email,
        challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
        timeout: responseTime,
        attestationType: "none",
        excludeCredentials: known.map(({ credential, transports }) => ({
          id: credential,
          transports: [...transports],
        })),
        // It takes the place of email, password and second factor.
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
    },
    async finishRegistration(account, { name, response }) {
      const { id: user } = account;
      const { verifyRegistrationResponse } = await loadLibrary();
      const { registrationInfo } = await orRefused(() =>
        verifyRegistrationResponse({
          response,
          expectedChallenge: (challenge) => useChallenge(challenge, user),
          expectedOrigin: origin,
          expectedRPID: rpID,
          requireUserVerification: true,
        }),
      );
      if (registrationInfo === undefined) throw refused();
      const { credential, credentialBackedUp } = registrationInfo;
      const passkey: Passkey = {
        user,
        name,
        credential: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString("base64url"),
        counter: credential.counter,
        transports: (credential.transports ?? []).map(String).slice(0, 10),
        isBackedUp: credentialBackedUp,
        usedAt: null,
      };
      try {
        return await whileSignedIn(store, users, account, async (transaction) => {
          const kept = transaction.collection(passkeyCollection);
          if ((await kept.count({ where: { user } })) >= maxPasskeys) {
            throw new Problem(409, { detail: `a user has at most ${maxPasskeys} passkeys` });
          }
          return kept.insert(passkey, { id: passkeyId(credential.id) });
        });
      } catch (error) {
        if (!(error instanceof UniqueError)) throw error;
        throw new Problem(409, { detail: "this passkey is registered already" });
      }
    },
    async beginSignIn() {
      const { generateAuthenticationOptions } = await loadLibrary();
      const challenge = await newChallenge(null);
      return generateAuthenticationOptions({
        rpID,
        challenge: new Uint8Array(Buffer.from(challenge, "base64url")),
        timeout: responseTime,
        userVerification: "required",
      });
    },
    async finishSignIn(response, count) {
      const { verifyAuthenticationResponse } = await loadLibrary();
      const found = await passkeys.get(passkeyId(response.id));
      if (found === undefined) return undefined;
      const user = await store.collection(users.collection).get(found.user);
      const { credential: id, counter, publicKey, transports } = found;
      const verify = (): ReturnType<typeof verifyAuthenticationResponse> =>
        verifyAuthenticationResponse({
          response,
          expectedChallenge: (challenge) => useChallenge(challenge, null),
          expectedOrigin: origin,
          expectedRPID: rpID,
          credential: {
            id,
            publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")),
            counter,
            transports: [...transports],
          },
          requireUserVerification: true,
        });
      const { verified, authenticationInfo } = await count(found.user, () => orRefused(verify));
      // A caller with the handle of another user has taken the key from somewhere else.
      const { userHandle } = response.response;
      const isOther =
        userHandle !== undefined && Buffer.from(userHandle, "base64url").toString() !== found.user;
      if (!verified || isOther) return undefined;
      const { newCounter } = authenticationInfo;
      const used = await passkeys.update(found.id, (current) => {
        // Another sign-in at the same time may have counted further (WebAuthn Level 3, 7.2, step
        // 22).
        if (newCounter > 0 && newCounter <= current.counter) throw refused();
        return { counter: newCounter, usedAt: Date.now() };
      });
      return used && user;
    },
    list: find,
    async remove(user, id) {
      const found = await passkeys.get(id);
      return found?.user === user && passkeys.remove(id);
    },
  };

  async function newChallenge(user: string | null): Promise<string> {
    const challenge = newSecret();
    await challenges.insert({ user, expiresAt: Date.now() + responseTime }, { id: challenge });
    return challenge;
  }

  /** Uses a challenge up for any caller: a wrong response cannot be followed by another. */
  async function useChallenge(challenge: string, user: string | null): Promise<boolean> {
    if (!isSecret(challenge)) return false;
    const found = await challenges.get(challenge);
    if (found === undefined || !(await challenges.remove(challenge))) return false;
    return found.user === user && found.expiresAt > Date.now();
  }
}

/** Converts errors of the library, which say in the words of the standard what is wrong. */
async function orRefused<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw error instanceof DocumentsError ? error : refused(error);
  }
}

function refused(cause?: unknown): Problem {
  return new Problem(422, { detail: "the response of the passkey is invalid", cause });
}

async function loadLibrary(): Promise<typeof import("@simplewebauthn/server")> {
  return import("@simplewebauthn/server");
}
