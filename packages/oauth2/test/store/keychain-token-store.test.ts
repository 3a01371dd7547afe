import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessToken, OAuth2Client, TokenManager, type TokenStore } from "../../src/index.ts";
import { openStore, type KeychainEntry } from "../../src/node/keychain-token-store.ts";
import { FileTokenStore } from "../../src/node/store.ts";
import { startRotatingServer } from "../rotating-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-keychain-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const token = { access_token: "canary-A0", refresh_token: "canary-R0", expires_at: 1 };

/** A keychain in memory, with a class like `AsyncEntry` of `@napi-rs/keyring`. */
function standIn(): { readonly Entry: KeychainEntry; readonly passwords: Map<string, string> } {
  const passwords = new Map<string, string>();
  class Entry {
    readonly #name: string;

    constructor(service: string, account: string, options: object) {
      expect(options).toEqual({ linux: { store: "secret-service" } });
      this.#name = `${service} ${account}`;
    }

    async getPassword(): Promise<string | null> {
      return passwords.get(this.#name) ?? null;
    }

    async setPassword(password: string): Promise<void> {
      passwords.set(this.#name, password);
    }
  }
  return { Entry, passwords };
}

function open(Entry: KeychainEntry, service?: string): Promise<TokenStore> {
  return openStore(() => Entry, folder, { service });
}

async function fileOf(key: string): Promise<string> {
  const names = await readdir(folder);
  return join(folder, names.find((name) => name.startsWith(`token-${key}-`)) ?? "");
}

describe("refusals", () => {
  it("names what to install where the library is missing", () => {
    const program = `
      import { registerHooks } from "node:module";
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier.startsWith("@napi-rs/")) throw new Error("not installed");
          return next(specifier, context);
        },
      });
      const { openKeychainTokenStore } = await import("@fetchwork/oauth2/node/store");
      const { code, message } = await openKeychainTokenStore(process.argv[1]).catch((error) => error);
      console.log(JSON.stringify([code, message]));
    `;
    const args = ["-C", "@fetchwork/source", "--input-type=module", "-e", program, folder];
    const cwd = join(import.meta.dirname, "..");
    const printed = execFileSync(process.execPath, args, { cwd, encoding: "utf8" });
    const message = "a package is missing: npm install @napi-rs/keyring";
    expect(JSON.parse(printed)).toEqual(["ERR_OAUTH_STORE", message]);
  });

  it("refuses options that do not exist", async () => {
    const options = { leaseTime: 1000, leaseTimes: 1 };
    await expect(openStore(() => standIn().Entry, folder, options)).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it("says that the system has no keychain, with the cause, and stores no key elsewhere", async () => {
    const cause = new Error("DBus");
    class Entry extends standIn().Entry {
      override getPassword(): Promise<string> {
        throw cause;
      }
    }
    await expect(open(Entry)).rejects.toMatchObject({ code: "ERR_OAUTH_STORE", cause });
    expect(await readdir(folder)).toEqual([]);
  });

  it("opens no new folder with a keychain that does not keep the key", async () => {
    const { Entry, passwords } = standIn();
    class Forgetful extends Entry {
      override async setPassword(): Promise<void> {}
    }
    await expect(open(Forgetful)).rejects.toThrow("remove their folder");
    expect(await readdir(folder)).toEqual([]);
    await open(Entry);
    expect(passwords.size).toBe(1);
  });

  it("makes no other key where the keychain has lost that of the folder", async () => {
    const { Entry, passwords } = standIn();
    await (await open(Entry)).set("k", token);
    const content = await readFile(await fileOf("k"), "utf8");
    passwords.clear();
    await expect(open(Entry)).rejects.toThrow("remove their folder");
    expect(passwords.size).toBe(0);
    expect(await readFile(await fileOf("k"), "utf8")).toBe(content);
  });

  it("refuses a token of another name, a damaged one, and one that is not encrypted", async () => {
    const { Entry } = standIn();
    const store = await open(Entry);
    await store.set("a", token);
    await store.set("b", { access_token: "B" });
    const [a, b] = [await fileOf("a"), await fileOf("b")];
    await rename(a, b);
    await expect(store.get("b")).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
    for (const text of ["", "AAAA", "A".repeat(100)]) {
      await writeFile(b, JSON.stringify({ sealed: text }));
      await expect(store.get("b")).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
    }
    await writeFile(b, JSON.stringify(token));
    const error: unknown = await Promise.resolve(store.get("b")).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "ERR_OAUTH_STORE" });
    expect(String(error) + JSON.stringify(error)).not.toContain("canary");
  });
});

it("KeychainTokenStore returns what was stored, to later stores too, and nothing after it was removed", async () => {
  const { Entry } = standIn();
  const long = { ...token, id_token: "x".repeat(20_000) };
  await (await open(Entry)).set("k", long);
  const store = await open(Entry);
  expect(await store.get("k")).toEqual(long);
  expect(await store.get("keychain")).toBeUndefined();
  await store.delete("k");
  expect(await store.get("k")).toBeUndefined();
});

it("KeychainTokenStore writes neither tokens nor the key into files", async () => {
  const { Entry, passwords } = standIn();
  await (await open(Entry, "my-app")).set("k", token);
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const [name = "", key = ""] = [...passwords].flat();
  expect(name).toMatch(/^my-app [\da-f-]{36}$/);
  expect(Buffer.from(key, "base64")).toHaveLength(32);
  expect(texts.join()).not.toMatch(/canary/);
  expect(texts.join()).not.toContain(key);
});

it("KeychainTokenStore makes one key for all that open a new folder at the same time", async () => {
  const { Entry, passwords } = standIn();
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(Entry)));
  expect(passwords.size).toBe(1);
  await stores[0]?.set("k", token);
  for (const store of stores) expect(await store.get("k")).toEqual(token);
});

describe("lock", () => {
  it("makes one refresh of two managers on two stores", async () => {
    await using server = await startRotatingServer();
    const { Entry } = standIn();
    const client = new OAuth2Client("id", "secret", { site: server.origin });
    const old = { access_token: "A0", refresh_token: "R0", expires_at: 1 };
    await new TokenManager(client, { store: await open(Entry) }).set(
      AccessToken.fromHash(client, old),
    );
    const managers = [await open(Entry), await open(Entry)].map(
      (store) => new TokenManager(client, { store }),
    );
    const tokens = await Promise.all(managers.map((manager) => manager.getToken()));
    expect(tokens.map((fresh) => fresh.token)).toEqual(["A1", "A1"]);
    expect(server.refreshes).toEqual(["R0"]);
  });

  it("excludes the holder of the same lock of a FileTokenStore, of which it is one", async () => {
    const store = await openStore(() => standIn().Entry, folder, { lockTimeout: 50 });
    await new FileTokenStore(folder).lock("token k", async () => {
      await expect(store.lock?.("k", async () => {})).rejects.toMatchObject({
        code: "ERR_OAUTH_STORE",
      });
    });
  });
});
