import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isObject } from "@fetchwork/kit";
import type { TokenHash, TokenStore } from "@fetchwork/oauth2";
import { FileTokenStore } from "@fetchwork/oauth2/node/store";
import type { CommandIo } from "../command/command-io.ts";
import { defaultProfile, type Profile } from "./profile.ts";

/** A sign-in as it is stored. */
export interface KeptProfile {
  readonly name: string;
  readonly profile: Profile;
  readonly token: TokenHash;
}

/**
 * Sign-ins in files, one each, which only their owner can read and which are replaced as a whole:
 * who signed in where, and the token. Not encrypted.
 */
export class ProfileStore {
  readonly #folder: string;
  readonly #files: FileTokenStore;

  constructor({ env }: Pick<CommandIo, "env">) {
    this.#folder = join(configFolder(env), "fetchwork", "oauth");
    this.#files = new FileTokenStore(this.#folder);
  }

  /** Reads one sign-in. */
  async read(name: string): Promise<KeptProfile | undefined> {
    return toKept(await this.#files.get(name));
  }

  /**
   * Reads one sign-in.
   *
   * @throws Error when there is none
   */
  async require(name: string): Promise<KeptProfile> {
    const kept = await this.read(name);
    if (kept !== undefined) return kept;
    const options = name === defaultProfile ? "" : ` --profile ${name}`;
    throw new Error(
      `not signed in (profile "${name}"): run fetchwork oauth login --issuer <url> --client-id <id>${options}`,
    );
  }

  /** Stores a sign-in, replacing an older one of that name. */
  async write({ name, profile, token }: KeptProfile): Promise<void> {
    await this.#files.lock(name, () => this.#files.set(name, { name, profile, token }));
  }

  /** Works on a sign-in under its lock, so that no process refreshes its token; removes it. */
  async remove(name: string, work: (kept: KeptProfile) => Promise<void>): Promise<boolean> {
    return this.#files.lock(name, async () => {
      const kept = await this.read(name);
      if (kept === undefined) return false;
      try {
        await work(kept);
      } finally {
        await this.#files.delete(name);
      }
      return true;
    });
  }

  /** The token of a sign-in alone, for a manager. The key is its name. */
  tokensOf(opened: KeptProfile): TokenStore {
    const files = this.#files;
    const read = async (name: string): Promise<KeptProfile> => {
      const kept = await this.require(name);
      // A refresh token of one provider must not be sent to another one.
      if (JSON.stringify(kept.profile) === JSON.stringify(opened.profile)) return kept;
      throw new Error(`the sign-in ${name} was replaced by another process: try again`);
    };
    return {
      get: async (name) => (await read(name)).token,
      set: async (name, token) => files.set(name, { ...(await read(name)), token }),
      delete: (name) => files.delete(name),
      lock: (name, work) => files.lock(name, work),
    };
  }
}

function configFolder(env: CommandIo["env"]): string {
  const { XDG_CONFIG_HOME: given = "", HOME: home = homedir() } = env;
  // XDG Base Directory Specification: relative paths are to be ignored.
  return isAbsolute(given) ? given : join(home, ".config");
}

function toKept(value: TokenHash | undefined): KeptProfile | undefined {
  const { name, profile, token } = value ?? {};
  if (typeof name !== "string" || !isObject(profile) || !isObject(token)) return undefined;
  if (typeof profile["clientId"] !== "string" || !isObject(profile["metadata"])) return undefined;
  // Written by `write`; what matters of it has just been checked, and the client checks the
  // metadata.
  return { name, profile: profile as unknown as Profile, token: { ...token } };
}
