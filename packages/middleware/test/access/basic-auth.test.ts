import { createContext, text, wrap, type Middleware } from "@fetchwork/http";
import { QueueFullError } from "@fetchwork/kit";
import { describe, expect, it, vi } from "vitest";
import {
  argon2Verifier,
  computeArgon2,
  computeInWasm,
  generateArgon2Hash,
} from "../../src/access/argon2-hash.ts";
import {
  basicAuthWithArgon2Hash,
  basicAuthWithArgon2HashAndPrompt,
  basicAuthWithBcryptHash,
  basicAuthWithBcryptHashAndPrompt,
} from "../../src/access/basic-auth-hash.ts";
import {
  authorizedUser,
  basicAuth,
  basicAuthWithPrompt,
  basicAuthWithUserPasswd,
  isAuthorized,
} from "../../src/access/basic-auth.ts";
import { bcryptVerifier, generateBcryptHash } from "../../src/access/bcrypt-hash.ts";
import { runInHashQueue } from "../../src/access/hash-queue.ts";

// bcrypt of "good" with cost 4, Argon2id of "good" with the salt 16 times 0x07 (research A15).
const bcryptHash = await quickBcrypt("good");
const argon2Salt = Buffer.alloc(16, 7).toString("base64");
const argon2Hash = "u8HTeVibam/50k1CkAJ0cGSKFgCUAECBOKEltqPl8eY=";

async function quickBcrypt(password: string): Promise<string> {
  const { bcrypt } = await import("hash-wasm");
  const salt = Buffer.alloc(16, 1);
  return bcrypt({ password, salt, costFactor: 4, outputType: "encoded" });
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

interface Seen {
  readonly status: number;
  readonly body: string;
  readonly challenge: string | null;
}

async function ask(middleware: Middleware, authorization?: string): Promise<Seen> {
  const handler = wrap(
    (_, context) => text(`${isAuthorized(context)} ${authorizedUser(context)}`),
    middleware,
  );
  const headers = authorization === undefined ? {} : { authorization };
  const response = await handler(new Request("http://localhost/", { headers }));
  const challenge = response.headers.get("www-authenticate");
  return { status: response.status, body: await response.text(), challenge };
}

const option = expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" });
const plain: readonly (readonly [string, Middleware])[] = [
  ["basicAuth", basicAuth((user, password) => user === "dev" && password === "good")],
  ["basicAuthWithUserPasswd", basicAuthWithUserPasswd("dev", "good")],
  ["basicAuthWithBcryptHash", basicAuthWithBcryptHash("dev", bcryptHash)],
  ["basicAuthWithArgon2Hash", basicAuthWithArgon2Hash("dev", argon2Hash, argon2Salt)],
];
const prompting: readonly (readonly [string, Middleware])[] = [
  ["basicAuthWithPrompt", basicAuthWithPrompt("dev", "good")],
  ["basicAuthWithBcryptHashAndPrompt", basicAuthWithBcryptHashAndPrompt("dev", bcryptHash)],
  [
    "basicAuthWithArgon2HashAndPrompt",
    basicAuthWithArgon2HashAndPrompt("dev", argon2Hash, argon2Salt),
  ],
];

const challenge = 'Basic realm="restricted", charset="UTF-8"';
const malformed: readonly (string | undefined)[] = [
  undefined,
  "",
  "Basic",
  "Basic ",
  "Bearer abc",
  "Basic !!!!",
  "Basic ZGV2Omdvb2Q", // no padding
  "Basic ZGV2Omdvb2Q==", // wrong padding
  "Basic ZGV2Omdvb2QK", // a control character in the password
  "Basic ZGV2", // no colon
  `Basic ${Buffer.from("dev:good").toString("base64")} x`,
  `Basic ${Buffer.from([0x64, 0x3a, 0xff]).toString("base64")}`, // no UTF-8
  "Basic ZGV2Omdvb2Q_", // base64url
];

// Research A15, row by row.
describe.each(plain)("%s", (_, middleware) => {
  it.each(malformed)("responds with 401 and without a body to %j", async (header) => {
    expect(await ask(middleware, header)).toEqual({ status: 401, body: "", challenge: null });
  });

  it.each([
    ["dev", "bad"],
    ["dev", ""],
    ["dev", "goo"],
    ["dev", "good "],
    ["other", "good"],
    ["", ""],
    ["dev", "x".repeat(100)],
  ])("responds with 403 and without a body to %j, %j", async (user, password) => {
    expect(await ask(middleware, basic(user, password))).toEqual({
      status: 403,
      body: "",
      challenge: null,
    });
  });

  it("accepts the right credentials", async () => {
    const right = { status: 200, body: "true dev", challenge: null };
    expect(await ask(middleware, basic("dev", "good"))).toEqual(right);
    expect(await ask(middleware, basic("dev", "good").replace("Basic", "bAsIc"))).toEqual(right);
  });
});

describe.each(prompting)("%s", (_, middleware) => {
  it.each([...malformed, basic("dev", "bad"), basic("other", "good")])(
    "prompts again after %j",
    async (header) => {
      expect(await ask(middleware, header)).toEqual({
        status: 401,
        body: "Unauthorized\n",
        challenge,
      });
    },
  );

  it("accepts the right credentials", async () => {
    expect((await ask(middleware, basic("dev", "good"))).body).toBe("true dev");
  });
});

describe("basicAuth", () => {
  it("refuses a checker that is not a function, and a realm that cannot be sent", () => {
    expect(() => basicAuth(JSON.parse("null"))).toThrow(option);
    expect(() => basicAuth(() => true, { realm: "a\r\nb" })).toThrow(option);
  });

  it("refuses every result of a checker but true", async () => {
    const sloppy: unknown = () => "yes";
    if (typeof sloppy !== "function") throw new Error("unreachable");
    const middleware = basicAuth((...args) => sloppy(...args) as boolean);
    expect((await ask(middleware, basic("a", "b"))).status).toBe(403);
  });

  it("waits for a checker", async () => {
    const middleware = basicAuth((user) => Promise.resolve(user === "dev"));
    expect((await ask(middleware, basic("dev", ""))).status).toBe(200);
    expect((await ask(middleware, basic("x", ""))).status).toBe(403);
  });

  it("passes on what a checker throws", async () => {
    await expect(
      ask(
        basicAuth(() => Promise.reject(new Error("database"))),
        basic("dev", "good"),
      ),
    ).rejects.toThrow("database");
  });

  it("sends a challenge with a 401 only, with the option challenge", async () => {
    const middleware = basicAuth(() => false, { challenge: true, realm: 'a "b" \\' });
    const value = String.raw`Basic realm="a \"b\" \\", charset="UTF-8"`;
    expect(await ask(middleware)).toEqual({ status: 401, body: "", challenge: value });
    expect(await ask(middleware, basic("a", "b"))).toMatchObject({ status: 403, challenge: null });
  });

  it("does not mark the context of a refused request", () => {
    const context = createContext(new Request("http://localhost/"));
    expect(isAuthorized(context)).toBe(false);
    expect(authorizedUser(context)).toBeUndefined();
  });
});

describe("the hash variants", () => {
  // Go responds with 403 to an invalid hash; decision "Everywhere" 6: it throws where it is given.
  it.each([
    () => basicAuthWithArgon2Hash("dev", "!", argon2Salt),
    () => basicAuthWithArgon2Hash("dev", argon2Hash, "!"),
    () => basicAuthWithArgon2Hash("dev", argon2Hash, ""),
    () => basicAuthWithArgon2Hash("dev", "AAAA", argon2Salt),
    () => basicAuthWithBcryptHash("dev", "$2x$10$abc"),
    () => basicAuthWithBcryptHash("a:b", bcryptHash),
    () => basicAuthWithUserPasswd("dev", ""),
    () => basicAuthWithUserPasswd("dev", JSON.parse("null")),
  ])("refuse invalid options: %s", (make) => {
    expect(make).toThrow(option);
  });

  it("do the same work for an unknown user as for a known one", async () => {
    const digest = vi.spyOn(crypto.subtle, "sign");
    const verified: string[] = [];
    const verify = bcryptVerifier(bcryptHash);
    const checker = async (user: string, password: string): Promise<boolean> => {
      verified.push(user);
      return (await verify(password)) && user === "dev";
    };
    await ask(basicAuth(checker), basic("nobody", "good"));
    expect(verified).toEqual(["nobody"]);
    digest.mockRestore();
    const middleware = basicAuthWithArgon2Hash("dev", argon2Hash, argon2Salt);
    const { default: nodeCrypto } = await import("node:crypto");
    const argon2 = vi.spyOn(nodeCrypto, "argon2");
    for (const user of ["dev", "nobody"]) await ask(middleware, basic(user, "bad"));
    const [known, unknown] = argon2.mock.calls.map(([, input]) => input);
    argon2.mockRestore();
    expect(known).toBeDefined();
    expect(unknown).toEqual(known);
  });

  it("remember accepted credentials, and no others", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const middleware = basicAuthWithArgon2Hash("dev", argon2Hash, argon2Salt);
      await ask(middleware, basic("dev", "good"));
      const { default: nodeCrypto } = await import("node:crypto");
      const argon2 = vi.spyOn(nodeCrypto, "argon2");
      expect((await ask(middleware, basic("dev", "good"))).status).toBe(200);
      expect(argon2).not.toHaveBeenCalled();
      expect((await ask(middleware, basic("dev", "bad"))).status).toBe(403);
      expect((await ask(middleware, basic("nobody", "good"))).status).toBe(403);
      expect(argon2).toHaveBeenCalledTimes(2);
      vi.advanceTimersByTime(60_001);
      expect((await ask(middleware, basic("dev", "good"))).status).toBe(200);
      expect(argon2).toHaveBeenCalledTimes(3);
      argon2.mockRestore();
    } finally {
      vi.useRealTimers();
    }
  });

  it("respond with 503 when too many requests wait", async () => {
    const releases: (() => void)[] = [];
    const blocked = Array.from({ length: 104 }, () =>
      runInHashQueue(
        () =>
          new Promise<void>((resolve) => {
            releases.push(resolve);
          }),
      ),
    );
    await expect(runInHashQueue(() => Promise.resolve())).rejects.toBeInstanceOf(QueueFullError);
    const middleware = basicAuthWithBcryptHash("dev", bcryptHash);
    expect(await ask(middleware, basic("dev", "good"))).toMatchObject({ status: 503 });
    expect(releases).toHaveLength(4);
    while (releases.length > 0) {
      releases.shift()?.();
      await Promise.resolve();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    await Promise.all(blocked);
    expect((await ask(middleware, basic("dev", "good"))).status).toBe(200);
  });
});

describe("generateBcryptHash", () => {
  it.each(["", "x".repeat(73), "é".repeat(37)])("refuses %j", async (password) => {
    await expect(generateBcryptHash(password)).rejects.toThrow(option);
  });

  it("makes a hash that the check accepts", async () => {
    const hash = await generateBcryptHash("пароль");
    expect(hash).toMatch(/^\$2[ab]\$10\$/);
    expect(await bcryptVerifier(hash)("пароль")).toBe(true);
    expect(await bcryptVerifier(hash)("парол")).toBe(false);
    expect(await generateBcryptHash("x".repeat(72))).toMatch(/^\$2[ab]\$10\$/);
  });

  it.each(["$2a$", "$2b$", "$2y$"])("checks hashes that start with %s", async (start) => {
    expect(await bcryptVerifier(start + bcryptHash.slice(4))("good")).toBe(true);
  });

  it("does not accept the first 72 bytes of a longer password", async () => {
    const hash = await quickBcrypt("x".repeat(72));
    expect(await bcryptVerifier(hash)("x".repeat(72))).toBe(true);
    expect(await bcryptVerifier(hash)("x".repeat(73))).toBe(false);
  });
});

describe("generateArgon2Hash", () => {
  it("refuses an empty password", async () => {
    await expect(generateArgon2Hash("")).rejects.toThrow(option);
  });

  it("makes 44 and 24 characters of base64 that the check accepts", async () => {
    const { hash, salt } = await generateArgon2Hash("pass");
    expect([hash.length, salt.length]).toEqual([44, 24]);
    expect(await argon2Verifier(hash, salt)("pass")).toBe(true);
    expect(await argon2Verifier(hash, salt)("")).toBe(false);
  });

  it("computes the same in Node and in WebAssembly", async () => {
    const salt = Uint8Array.from(Buffer.alloc(16, 7));
    const password = Buffer.from("good");
    const native = Buffer.from(await computeArgon2(password, salt)).toString("base64");
    const wasm = Buffer.from(await computeInWasm(password, salt)).toString("base64");
    expect([native, wasm]).toEqual([argon2Hash, argon2Hash]);
  });
});
