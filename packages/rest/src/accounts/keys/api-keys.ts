import { VersionError, type Store, type Stored } from "@fetchwork/documents";
import { constantTimeEqual } from "@fetchwork/kit";
import type { Account } from "../../account.ts";
import { Problem } from "../../problem.ts";
import type { KeySource } from "../create-authentication.ts";
import { digestOf, newSecret } from "../secret-token.ts";
import type { UserResource } from "../users/define-user.ts";
import { type SignedIn, whileSignedIn } from "../users/while-signed-in.ts";
import { type ApiKey, apiKeyCollection } from "./api-key.ts";

/** Fields of a new key that the user sets. */
export type NewApiKey = Pick<ApiKey, "expiresAt" | "name" | "scopes">;

/** The API keys of users. */
export interface ApiKeys extends KeySource {
  /**
   * Makes a key. It is returned once: what is stored does not tell it.
   *
   * @throws Problem 409 when the user has 100 keys already, 401 when its sessions have ended since.
   */
  create(
    user: SignedIn,
    wanted: NewApiKey,
  ): Promise<{ readonly key: string; readonly stored: Stored<ApiKey> }>;
  list(user: string): Promise<readonly Stored<ApiKey>[]>;
  /** Ends a key of a user; `false` where there is none. */
  remove(user: string, id: string): Promise<boolean>;
}

const maxKeys = 100;

/** Milliseconds between two notes of the last use: a key in frequent use is rarely written. */
const noteInterval = 60_000;

const format = /^fwk_([\w-]{1,64})_([\w-]{43})$/;

/** Makes {@link ApiKeys}: `fwk_`, the identifier, and 256 random bits in base64url. */
export function createApiKeys(
  store: Store,
  users: UserResource,
  accountOf: (user: string) => Promise<Account | undefined>,
): ApiKeys {
  const keys = store.collection(apiKeyCollection);

  return {
    isKey: (token) => format.test(token),
    async accountOf(key) {
      const [, id = "", secret = ""] = format.exec(key) ?? [];
      const found = await keys.get(id);
      if (found === undefined || !constantTimeEqual(digestOf(secret), found.hash)) return undefined;
      if (found.expiresAt !== undefined && found.expiresAt <= Date.now()) return undefined;
      const account = await accountOf(found.user);
      if (account === undefined) return undefined;
      await noteUse(found);
      return { ...account, apiKey: id, scopes: found.scopes };
    },
    async create(account, { name, scopes, expiresAt }) {
      const { id: user } = account;
      const secret = newSecret();
      const key: ApiKey = {
        user,
        name,
        scopes,
        hash: digestOf(secret),
        usedAt: null,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      const stored = await whileSignedIn(store, users, account, async (transaction) => {
        const kept = transaction.collection(apiKeyCollection);
        if ((await kept.count({ where: { user } })) >= maxKeys) {
          throw new Problem(409, { detail: `a user has at most ${maxKeys} keys` });
        }
        return kept.insert(key);
      });
      return { key: `fwk_${stored.id}_${secret}`, stored };
    },
    async list(user) {
      const found = await keys.find({ where: { user }, sort: ["createdAt"], limit: maxKeys });
      return found.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > Date.now());
    },
    async remove(user, id) {
      const found = await keys.get(id);
      return found?.user === user && keys.remove(id);
    },
  };

  async function noteUse({ id, usedAt, version }: Stored<ApiKey>): Promise<void> {
    const now = Date.now();
    if (usedAt !== null && Math.abs(now - usedAt) < noteInterval) return;
    try {
      await keys.update(id, { usedAt: now }, { ifVersion: version });
    } catch (error) {
      // Another request with the same key has noted it.
      if (!(error instanceof VersionError)) throw error;
    }
  }
}
