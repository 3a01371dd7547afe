// Argon2id of Node with the cost that the blog has, so that no peer pays for another
// implementation.
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const compute = promisify(argon2);
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

export async function hashPassword(password) {
  const nonce = randomBytes(16);
  const tag = await compute("argon2id", { ...cost, message: Buffer.from(password), nonce });
  return `${nonce.toString("base64")}$${tag.toString("base64")}`;
}

export async function verifyPassword(password, hash) {
  const [nonce, tag] = hash.split("$").map((part) => Buffer.from(part, "base64"));
  const input = { ...cost, message: Buffer.from(password), nonce };
  return timingSafeEqual(await compute("argon2id", input), tag);
}
