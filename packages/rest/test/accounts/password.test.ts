import crypto from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { argon2id, computeInWorker } from "../../src/accounts/argon2.ts";
import { hashPassword, verifyPassword } from "../../src/accounts/password.ts";

describe("verifyPassword", () => {
  it("refuses another password, the empty one, and one with a byte more", async () => {
    const hash = await hashPassword("correct horse");
    for (const wrong of ["correct hors", "correct horse ", "Correct horse", ""]) {
      expect(await verifyPassword(wrong, hash)).toBe(false);
    }
  });

  it.each([
    undefined,
    "",
    "plain",
    "$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "$argon2id$v=19$m=1,t=0,p=0$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(50_000)}`,
  ])("refuses everything for the stored hash %j", async (hash) => {
    expect(await verifyPassword("x", hash)).toBe(false);
  });

  it("accepts the password that was hashed, whatever its characters", async () => {
    for (const password of ["123456", "pässwörd 🔑", "a\0b", "x".repeat(200)]) {
      expect(await verifyPassword(password, await hashPassword(password))).toBe(true);
    }
  });

  it("hashes with a new salt each time, in the PHC format", async () => {
    const [one, two] = await Promise.all([hashPassword("same"), hashPassword("same")]);
    expect(one).not.toBe(two);
    expect(one).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
  });

  it("works through more computations than run at once", async () => {
    const hash = await hashPassword("x");
    const answers = await Promise.all(Array.from({ length: 12 }, () => verifyPassword("x", hash)));
    expect(answers).toEqual(Array.from({ length: 12 }, () => true));
  });

  it("does the same work for nobody as for somebody", async () => {
    const hash = await hashPassword("x");
    const work = vi.spyOn(crypto, "argon2");
    for (const stored of [hash, undefined, "plain"]) await verifyPassword("wrong", stored);
    const [somebody, ...others] = work.mock.calls.map(([algorithm, input]) => ({
      algorithm,
      ...input,
      nonce: Buffer.from(input.nonce as Uint8Array).length,
    }));
    work.mockRestore();
    expect(somebody).toMatchObject({ algorithm: "argon2id", memory: 19_456, passes: 2 });
    expect(others).toEqual([somebody, somebody]);
  });

  it("serves those who come first before those who come last, and refuses too many", async () => {
    const hash = await hashPassword("x");
    const order: string[] = [];
    const busy = Array.from({ length: 4 }, () => verifyPassword("x", hash));
    const last = Array.from({ length: 50 }, () =>
      verifyPassword("x", hash, "last").then(() => order.push("last")),
    );
    const first = verifyPassword("x", hash, "first").then(() => order.push("first"));
    await expect(verifyPassword("x", hash, "last")).rejects.toMatchObject({ status: 503 });
    await first;
    expect(order.length).toBeLessThan(25);
    await Promise.all([...busy, ...last]);
    expect(await verifyPassword("x", hash)).toBe(true);
  });

  it("leaves the event loop free while it computes", async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await hashPassword("x");
    await hashPassword("x");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});

describe("argon2id", () => {
  // RFC 9106 section 5.3 uses a secret and associated data, which passwords do not have; so the two
  // implementations hold each other to the same result.
  it("returns in a worker with hash-wasm what Node's own returns", async () => {
    const input = {
      message: Buffer.from("password"),
      nonce: Buffer.from("somesaltsomesalt"),
      memory: 1_024,
      passes: 2,
      parallelism: 1,
      tagLength: 32,
    };
    expect(await computeInWorker(input)).toEqual(await argon2id(input, "first"));
  });
});
