import crypto from "node:crypto";

// Setup file of Vitest: passwords are hashed in 64 KiB and one pass, since most tests with accounts
// would spend most of their time in Argon2id. The stored hash names its full cost, as it does in
// production. What full cost does is tested without this file, in accounts/password.test.ts and in
// the tests with other processes.
const { argon2 } = crypto;

function cheapArgon2(...[algorithm, input, done]: Parameters<typeof argon2>): void {
  const memory = Math.min(input.memory, 64 * input.parallelism);
  argon2(algorithm, { ...input, memory, passes: 1 }, done);
}

// Node before 24.7 has none; a worker that has run another file is prepared already.
if (typeof argon2 === "function" && argon2.name !== cheapArgon2.name) crypto.argon2 = cheapArgon2;
