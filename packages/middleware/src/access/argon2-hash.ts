import { constantTimeEqual, decodeBase64, encodeBase64 } from "@fetchwork/kit";
import { builtinModule } from "../runtime/platform.ts";
import { optionError } from "../check-options.ts";
import { runInHashQueue } from "./hash-queue.ts";

/** Argon2id hash of a password and the salt that it was made with, both standard base64. */
export interface Argon2Hash {
  /** 32 bytes. */
  readonly hash: string;
  /** 16 bytes. */
  readonly salt: string;
}

// RFC 9106, 4: one pass with 64 MiB in four lanes; version 1.3 of the algorithm.
const passes = 1;
const memory = 65_536;
const parallelism = 4;
const hashLength = 32;
const saltLength = 16;

const encoder = new TextEncoder();

/** The part of `node:crypto` that this file needs; `argon2` is there from 24.7 on. */
interface CryptoModule {
  readonly argon2?: (
    algorithm: "argon2id",
    parameters: Readonly<Record<string, unknown>>,
    callback: (error: Error | null, tag: Uint8Array) => void,
  ) => void;
}

/**
 * Hashes a password with Argon2id (RFC 9106; one pass, 64 MiB, four lanes) and a new salt, for
 * {@link basicAuthWithArgon2Hash}. Computes in Node's thread pool where Node has Argon2, else with
 * `hash-wasm` on the calling thread; at most four at once in a process.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an empty password, as a rejection
 */
export async function generateArgon2Hash(password: string): Promise<Argon2Hash> {
  if (typeof password !== "string" || password === "") {
    // The message must not contain the password.
    throw optionError("password", typeof password === "string" ? "" : password, "text");
  }
  const salt = crypto.getRandomValues(new Uint8Array(saltLength));
  const hash = await computeArgon2(encoder.encode(password), salt);
  return { hash: encodeBase64(hash), salt: encodeBase64(salt) };
}

/**
 * Makes a check of passwords against a hash.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an invalid hash or salt
 */
export function argon2Verifier(hash: string, salt: string): (password: string) => Promise<boolean> {
  const expected = typeof hash === "string" ? decodeBase64(hash) : undefined;
  const nonce = typeof salt === "string" ? decodeBase64(salt) : undefined;
  if (expected?.length !== hashLength) {
    throw optionError("hash", typeof hash, `${hashLength} bytes as base64`);
  }
  if (nonce === undefined || nonce.length < 8) {
    throw optionError("salt", typeof salt, "8 bytes or more as base64");
  }
  return async (password) => {
    // An empty password is always wrong, and takes as long as any other.
    const tag = await computeArgon2(encoder.encode(password === "" ? " " : password), nonce);
    return constantTimeEqual(tag, expected) && password !== "";
  };
}

/** Argon2id with the parameters of this file. */
export function computeArgon2(
  password: Uint8Array,
  salt: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const { argon2 } = builtinModule<CryptoModule>("node:crypto") ?? {};
  return runInHashQueue(() =>
    argon2 === undefined
      ? computeInWasm(password, salt)
      : new Promise((resolve, reject) => {
          const parameters = { message: password, nonce: salt, memory, passes, parallelism };
          argon2("argon2id", { ...parameters, tagLength: hashLength }, (error, tag) => {
            if (error) reject(error);
            else resolve(tag);
          });
        }),
  );
}

/** For runtimes without a native Argon2. */
export async function computeInWasm(
  password: Uint8Array,
  salt: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const { argon2id } = await import("hash-wasm");
  return argon2id({
    password,
    salt,
    parallelism,
    iterations: passes,
    memorySize: memory,
    hashLength,
    outputType: "binary",
  });
}
