import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeychainTokenStore } from "../../src/node/store.ts";

/** Set where the system has a keychain that is unlocked, which the machines of CI do not have. */
const hasKeychain = process.env["FETCHWORK_KEYCHAIN"] === "1";
const reason = hasKeychain ? "" : " (skipped without FETCHWORK_KEYCHAIN=1, for want of a keychain)";
const service = `fetchwork-test-${process.pid}`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-keychain-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Keyring {
  findCredentials(service: string): readonly { readonly account: string }[];
  readonly Entry: new (service: string, account: string) => { deletePassword(): boolean };
}

describe.skipIf(!hasKeychain)(`a store with the keychain of the system${reason}`, () => {
  // The library, which exports these.
  const keyring = (): Keyring => createRequire(import.meta.url)("@napi-rs/keyring") as Keyring;
  const accounts = (): string[] =>
    keyring()
      .findCredentials(service)
      .map(({ account }) => account);
  afterEach(() => {
    const { Entry } = keyring();
    for (const account of accounts()) new Entry(service, account).deletePassword();
  });

  it("is shared by processes that open it at the same time", async () => {
    const script = join(import.meta.dirname, "keychain-child.ts");
    const args = ["--conditions=@fetchwork/source", "--no-warnings", script, folder, service];
    const run = promisify(execFile);
    const children = Array.from({ length: 3 }, () => run(process.execPath, args));
    const pids = (await Promise.all(children)).map(({ stdout }) => Number(stdout));
    expect(accounts()).toHaveLength(1);
    const store = await openKeychainTokenStore(folder, { service });
    for (const pid of pids) expect(await store.get(String(pid))).toMatchObject({ pid });
    const names = await readdir(folder);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    expect(texts.join()).not.toContain("xxx");
  }, 60_000);
});

describe.skipIf(process.platform !== "linux")("on a Linux without a Secret Service", () => {
  it("fails, and does not take the store of the kernel", async () => {
    const script = join(import.meta.dirname, "keychain-child.ts");
    const args = ["--conditions=@fetchwork/source", "--no-warnings", script, folder, service];
    const env = { ...process.env, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };
    const failed = promisify(execFile)(process.execPath, args, { env });
    await expect(failed).rejects.toThrow("the system has no keychain, or it is locked");
    expect(await readdir(folder)).toEqual([]);
  }, 60_000);
});
