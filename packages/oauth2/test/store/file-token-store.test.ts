import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AccessToken, OAuth2Client, TokenManager } from "../../src/index.ts";
import { FileTokenStore } from "../../src/node/file-token-store.ts";
import { startRotatingServer } from "../rotating-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fetchwork-tokens-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const token = { access_token: "A0", refresh_token: "R0", expires_at: 1 };

async function fileOf(): Promise<string> {
  const [name = ""] = (await readdir(folder)).filter((entry) => entry.endsWith(".json"));
  return join(folder, name);
}

it("FileTokenStore runs where undici is not installed, by a separate entry", () => {
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith("undici")) throw new Error("undici is not installed");
        return next(specifier, context);
      },
    });
    const { FileTokenStore } = await import("@fetchwork/oauth2/node/store");
    const store = new FileTokenStore(process.argv[1]);
    await store.set("key", { access_token: "A" });
    const both = await import("@fetchwork/oauth2/node").catch(({ message }) => message);
    console.log(JSON.stringify([await store.get("key"), both]));
  `;
  const args = ["-C", "@fetchwork/source", "--input-type=module", "-e", program, folder];
  const cwd = join(import.meta.dirname, "..");
  const printed = execFileSync(process.execPath, args, { cwd, encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([{ access_token: "A" }, "undici is not installed"]);
});

describe("refusals", () => {
  it.each([{ leaseTime: 0 }, { leaseTime: Number.NaN }, { lockTimeout: -1 }])(
    "refuses the option %j",
    (options) => {
      expect(() => new FileTokenStore(folder, options)).toThrow(
        expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
      );
    },
  );

  it("refuses a damaged file, without showing it", async () => {
    const store = new FileTokenStore(folder);
    await store.set("k", token);
    await writeFile(await fileOf(), '{"access_token":"canary-9c1');
    const error: unknown = await store.get("k").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "ERR_OAUTH_STORE" });
    expect(String(error) + JSON.stringify(error)).not.toContain("canary");
  });

  it("says that it cannot store where there is no folder to be made", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    await expect(new FileTokenStore(file).set("k", token)).rejects.toMatchObject({
      code: "ERR_OAUTH_STORE",
    });
  });

  it.skipIf(process.platform === "win32")("follows no link, and replaces it", async () => {
    const store = new FileTokenStore(folder);
    await store.set("k", token);
    const path = await fileOf();
    const target = join(folder, "target");
    await writeFile(target, '{"access_token":"planted"}');
    await rm(path);
    await symlink(target, path);
    await expect(store.get("k")).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
    await store.set("k", token);
    expect(await store.get("k")).toEqual(token);
    expect(await readFile(target, "utf8")).toContain("planted");
  });

  it.skipIf(process.getuid === undefined)(
    "does not read what another user has put there",
    async () => {
      const store = new FileTokenStore(folder);
      await store.set("k", token);
      const own = process.getuid?.() ?? 0;
      vi.spyOn(process, "getuid").mockReturnValue(own + 1);
      await expect(store.get("k")).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
      vi.spyOn(process, "getuid").mockReturnValue(0);
      expect(await store.get("k")).toEqual(token);
      vi.restoreAllMocks();
    },
  );

  it("fails as a store where the folder cannot be", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const store = new FileTokenStore(join(file, "tokens"));
    const calls = [
      () => store.lock("k", async () => {}),
      () => store.delete("k"),
      () => store.get("k"),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
    }
  });

  it("leaves no lock behind on a full disk, which others would wait for", async () => {
    const program = `
      import { FileTokenStore } from ${JSON.stringify(join(import.meta.dirname, "../../src/node/file-token-store.ts"))};
      const work = new FileTokenStore(process.argv[1]).lock("k", async () => "done");
      console.log(await work.catch(({ code }) => code));
    `;
    const node = [
      process.execPath,
      "-C",
      "@fetchwork/source",
      "--input-type=module",
      "-e",
      program,
    ];
    // A file that may have no bytes fails as on a full disk.
    const args = ["-c", 'ulimit -f 0; exec "$@"', "sh", ...node, folder];
    const env = { PATH: process.env["PATH"] };
    expect(execFileSync("sh", args, { encoding: "utf8", env }).trim()).toBe("ERR_OAUTH_STORE");
    expect(await readdir(folder)).toEqual([]);
  });

  it("gives up on a lock that never gets free", async () => {
    const store = new FileTokenStore(folder, { lockTimeout: 50 });
    await store.lock("k", async () => {
      await expect(store.lock("k", async () => {})).rejects.toMatchObject({
        code: "ERR_OAUTH_STORE",
      });
    });
  });
});

it("FileTokenStore returns what was stored, and nothing after it was removed", async () => {
  const store = new FileTokenStore(folder);
  expect(await store.get("k")).toBeUndefined();
  await store.set("k", token);
  expect(await store.get("k")).toEqual(token);
  expect(await store.get("K")).toBeUndefined();
  await store.delete("k");
  expect(await store.get("k")).toBeUndefined();
});

it.skipIf(process.platform === "win32")(
  "FileTokenStore writes files that only their owner can read",
  async () => {
    const inner = join(folder, "new", "tokens");
    await new FileTokenStore(inner).set("k", token);
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
    const [name = ""] = await readdir(inner);
    expect((await stat(join(inner, name))).mode & 0o777).toBe(0o600);
  },
);

it("FileTokenStore keeps keys that would leave the folder inside it, and apart", async () => {
  const store = new FileTokenStore(folder);
  const keys = ["../../etc/passwd", "..", "a/b", "a-b", "a b", "ü".repeat(300), ""];
  for (const key of keys) await store.set(key, { key });
  for (const key of keys) expect(await store.get(key)).toEqual({ key });
  expect(await readdir(folder)).toHaveLength(keys.length);
});

it("FileTokenStore replaces a file as a whole: a reader never sees half of it", async () => {
  const store = new FileTokenStore(folder);
  const long = { ...token, padding: "x".repeat(200_000) };
  await store.set("k", token);
  const path = await fileOf();
  let writing = true;
  const writer = (async () => {
    for (let count = 0; count < 30; count += 1)
      await store.set("k", count % 2 === 0 ? long : token);
    writing = false;
  })();
  let reads = 0;
  while (writing) {
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject(token);
    reads += 1;
  }
  await writer;
  expect(reads).toBeGreaterThan(10);
});

describe("lock", () => {
  it("lets one in at a time", async () => {
    const store = new FileTokenStore(folder);
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await store.set("k", token);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => store.lock("k", work)));
    expect(most).toBe(1);
    expect((await readdir(folder)).filter((name) => name.includes(".lock"))).toEqual([]);
  });

  it("is free after work that failed", async () => {
    const store = new FileTokenStore(folder, { lockTimeout: 100 });
    await expect(store.lock("k", () => Promise.reject(new Error("work")))).rejects.toThrow("work");
    expect(await store.lock("k", async () => "again")).toBe("again");
  });

  it("is taken over at once from a process that is gone", async () => {
    const store = new FileTokenStore(folder, { lockTimeout: 1000 });
    const gone = spawn(process.execPath, ["-e", ""]);
    await once(gone, "exit");
    await store.lock("k", async () => {
      const [lock = ""] = (await readdir(folder)).filter((name) => name.endsWith(".lock"));
      const held: unknown = JSON.parse(await readFile(join(folder, lock), "utf8"));
      await writeFile(join(folder, lock), JSON.stringify({ ...Object(held), pid: gone.pid }));
      expect(await store.lock("k", async () => "taken over")).toBe("taken over");
    });
  });

  it("is taken over when its holder shows no sign of life", async () => {
    const store = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    await store.lock("k", async () => {
      const [lock = ""] = (await readdir(folder)).filter((name) => name.endsWith(".lock"));
      const long = new Date(Date.now() - 6000);
      await utimes(join(folder, lock), long, long);
      expect(await store.lock("k", async () => "taken over")).toBe("taken over");
    });
  });

  it("is not given back by a holder that it was taken from", async () => {
    const store = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    const taken = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    let second: Promise<void> | undefined;
    const locks = async (): Promise<string[]> =>
      (await readdir(folder)).filter((name) => name.endsWith(".lock"));
    await store.lock("k", async () => {
      const [lock = ""] = await locks();
      const long = new Date(Date.now() - 6000);
      await utimes(join(folder, lock), long, long);
      second = store.lock("k", () => {
        taken.resolve();
        return done.promise;
      });
      await taken.promise;
    });
    expect(await locks()).toHaveLength(1);
    done.resolve();
    await second;
    expect(await locks()).toEqual([]);
  });

  it("does not let a former holder overwrite what was stored in the meantime", async () => {
    const slow = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    const quick = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    const stalled = slow.lock("k", async () => {
      const [lock = ""] = (await readdir(folder)).filter((name) => name.endsWith(".lock"));
      const long = new Date(Date.now() - 6000);
      await utimes(join(folder, lock), long, long);
      await quick.lock("k", async () => quick.set("k", { access_token: "newer" }));
      await slow.set("k", { access_token: "older" });
    });
    await expect(stalled).rejects.toMatchObject({ code: "ERR_OAUTH_STORE" });
    expect(await slow.get("k")).toEqual({ access_token: "newer" });
    expect(await readdir(folder)).toHaveLength(1);
    await slow.lock("k", async () => slow.set("k", { access_token: "newest" }));
    expect(await quick.get("k")).toEqual({ access_token: "newest" });
  });

  it("lets a former holder store what it got when nobody stored anything in the meantime", async () => {
    const slow = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    const quick = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    await slow.set("k", { access_token: "old" });
    await slow.lock("k", async () => {
      const [lock = ""] = (await readdir(folder)).filter((name) => name.endsWith(".lock"));
      const long = new Date(Date.now() - 6000);
      await utimes(join(folder, lock), long, long);
      await quick.lock("k", async () => {});
      await slow.set("k", { access_token: "late" });
    });
    expect(await quick.get("k")).toEqual({ access_token: "late" });
  });

  it("returns to the callers of a stalled process the token that another process stored", async () => {
    await using server = await startRotatingServer();
    const store = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    const other = new FileTokenStore(folder, { lockTimeout: 1000, leaseTime: 5000 });
    const client = new OAuth2Client("id", "secret", { site: server.origin });
    const manager = new TokenManager(client, { store });
    await manager.set(AccessToken.fromHash(client, token));
    server.onRefresh = async () => {
      const [lock = ""] = (await readdir(folder)).filter((name) => name.endsWith(".lock"));
      const long = new Date(Date.now() - 6000);
      await utimes(join(folder, lock), long, long);
      await other.lock("k", async () => {});
      await other.lock("default", async () =>
        other.set("default", { access_token: "newer", refresh_token: "R9" }),
      );
    };
    expect((await manager.getToken()).token).toBe("newer");
    expect(await other.get("default")).toMatchObject({ access_token: "newer" });
    expect(server.refreshes).toHaveLength(1);
  });

  it("removes what a process that was killed while it wrote has left", async () => {
    const store = new FileTokenStore(folder);
    await store.set("k", token);
    const left = `${await fileOf()}.0000.tmp`;
    await writeFile(left, '{"half');
    const long = new Date(Date.now() - 60_000);
    await utimes(left, long, long);
    await store.lock("k", async () => {});
    expect(await readdir(folder)).toHaveLength(1);
    expect(await store.get("k")).toEqual(token);
  });
});
