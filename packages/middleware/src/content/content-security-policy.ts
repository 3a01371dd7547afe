import { createContextKey, type Context, type ContextKey } from "@fetchwork/http";
import { optionError } from "../check-options.ts";

/**
 * Directives of a `Content-Security-Policy` (CSP 3, 6), each with its sources: `"'self'"`,
 * `"https:"`, `"https://cdn.example.com"`. `"'nonce'"` stands for the nonce of the request. True is
 * a directive without sources, such as `upgrade-insecure-requests`; false leaves one out.
 */
export type PolicyDirectives = Readonly<
  Partial<Record<DirectiveName, readonly string[] | string | boolean>>
>;

const directiveNames = [
  "base-uri",
  "child-src",
  "connect-src",
  "default-src",
  "fenced-frame-src",
  "font-src",
  "form-action",
  "frame-ancestors",
  "frame-src",
  "img-src",
  "manifest-src",
  "media-src",
  "object-src",
  "report-to",
  "report-uri",
  "require-trusted-types-for",
  "sandbox",
  "script-src",
  "script-src-attr",
  "script-src-elem",
  "style-src",
  "style-src-attr",
  "style-src-elem",
  "trusted-types",
  "upgrade-insecure-requests",
  "worker-src",
] as const;

/** Names of the directives that browsers know. */
export type DirectiveName = (typeof directiveNames)[number];

/**
 * Under it the context has the nonce of the request, when the directives of `secure` name
 * `'nonce'`. A page passes it to its own scripts: `<script nonce="…">`.
 */
export const cspNonceKey: ContextKey<string> = createContextKey("nonce of the policy");

/** Makes a function that writes the policy for one request. */
export function policyWriter(directives: PolicyDirectives): {
  readonly needsNonce: boolean;
  readonly write: (context: Context) => string;
} {
  if (typeof directives !== "object" || directives === null || Array.isArray(directives)) {
    throw optionError("contentSecurityPolicy.directives", directives, "an object of directives");
  }
  const parts: string[] = [];
  for (const [name, value] of Object.entries(directives)) {
    if (!directiveNames.some((known) => known === name)) {
      const known = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const isKnown = directiveNames.some((one) => one === known);
      throw optionError("directive", name, isKnown ? known : "the name of a directive");
    }
    if (value === false) continue;
    const sources: unknown = value === true ? [] : typeof value === "string" ? [value] : value;
    if (!isList(sources)) throw optionError(name, value, "a list of sources");
    for (const source of sources) checkSource(name, source);
    parts.push([name, ...sources].join(" "));
  }
  if (parts.length === 0) {
    throw optionError("contentSecurityPolicy.directives", "{}", "at least one directive");
  }
  const policy = parts.join("; ");
  if (!policy.includes("'nonce'")) return { needsNonce: false, write: () => policy };
  const pieces = policy.split("'nonce'");
  return {
    needsNonce: true,
    write: (context) => pieces.join(`'nonce-${context.get(cspNonceKey) ?? ""}'`),
  };
}

/** Words that mean a host when their quotes are missing. */
const keywords: ReadonlySet<string> = new Set([
  "none",
  "nonce",
  "report-sample",
  "self",
  "strict-dynamic",
  "unsafe-eval",
  "unsafe-hashes",
  "unsafe-inline",
  "wasm-unsafe-eval",
]);

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function checkSource(name: string, source: unknown): void {
  if (typeof source !== "string" || !/^[!-+\--:<-~]+$/.test(source)) {
    throw optionError(name, source, "sources without spaces, semicolons and commas");
  }
  if (keywords.has(source) && name !== "report-to" && name !== "trusted-types") {
    throw optionError(name, source, `"'${source}'", with its quotes`);
  }
}
