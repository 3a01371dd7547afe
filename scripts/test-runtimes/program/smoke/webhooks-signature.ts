import { sign, verify, verifyWithFallback } from "@fetchwork/webhooks/signature";
import { expect } from "../platform.ts";

// The vector of GitHub's documentation for X-Hub-Signature-256.
const secret = "It's a Secret to Everybody";
const payload = "Hello, World!";
const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

/** Makes and checks the signature of a published vector. */
export async function smoke(): Promise<void> {
  expect("a signature", await sign(secret, payload), signature);
  expect("the right one", await verify(secret, new TextEncoder().encode(payload), signature), true);
  expect("another body", await verify(secret, "Hello, World?", signature), false);
  expect("an old secret", await verifyWithFallback("new", payload, signature, [secret]), true);
}
