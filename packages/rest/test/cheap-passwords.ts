import crypto from "node:crypto";

// Setup file of Vitest: passwords of accounts are hashed in 64 KiB and one pass, since most tests
// with accounts would spend most of their time in Argon2id. The stored hash names its full cost, as
// it does in production. What full cost does is tested without this file, in
// accounts/password.test.ts and in the tests with other processes.
const { argon2 } = crypto;
/** Kibibytes of the hashes of accounts; those of other packages are left alone. */
const accountMemory = 19_456;

function cheapArgon2(...[algorithm, input, done]: Parameters<typeof argon2>): void {
  const isOfAccount = input.memory === accountMemory;
  argon2(algorithm, isOfAccount ? { ...input, memory: 64, passes: 1 } : input, done);
}

// Node before 24.7 has none; a worker that has run another file is prepared already.
if (typeof argon2 === "function" && argon2.name !== cheapArgon2.name) crypto.argon2 = cheapArgon2;
