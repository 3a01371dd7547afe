import { constantTimeEqual } from "@fetchwork/kit";
import { headerOf } from "../headers.ts";
import { WebhookUsageError } from "../errors.ts";
import { bodyKindOf } from "../body-kind.ts";
import { createHmacKey } from "./hmac-key.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { secretBytes } from "./secret-bytes.ts";

const signatureHeader = "x-twilio-signature";

/** Bytes of a form. Twilio sends a few kilobytes; sorting 25 MiB of fields would take seconds. */
const maxForm = 262_144;

/**
 * Twilio's: HMAC-SHA1 in base64 of the URL, followed by names and values of the form's fields,
 * sorted by name. Any other body is covered by its SHA-256 in the parameter `bodySHA256` of the
 * URL.
 */
export function twilioScheme(): SignatureScheme {
  return {
    name: "Twilio",
    signatureHeader,
    requiredHeaders: [signatureHeader],
    signsUrl: true,
    checkHeaders: (headers) =>
      isSignature(headerOf(headers, signatureHeader)) ? undefined : "signature",
    createKey: (secret) => {
      const key = createHmacKey(secretBytes(secret), "SHA-1");
      const wide = createHmacKey(secretBytes(secret), "SHA-256");
      return {
        sign: async ({ url, body }) => {
          const fields = await signedFields(url, body);
          if (url === undefined || fields === undefined) {
            const message =
              "Twilio signs the URL and a form, or a URL with the bodySHA256 of the body";
            throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", message);
          }
          return { [signatureHeader]: await key.digest("base64", url, fields) };
        },
        verify: async ({ headers, body, url }) => {
          const signature = headerOf(headers, signatureHeader);
          const fields = await signedFields(url, body);
          if (url === undefined || fields === undefined || !isSignature(signature)) return false;
          const isForm = bodyKindOf(headers.get("content-type")) === "form";
          if (!isForm && bodyHash(url) === undefined && body.length > 0) return false;
          for (const signed of portVariants(url)) {
            const expected = await key.digest("base64", signed, fields);
            if (constantTimeEqual(signature, expected)) return true;
          }
          return false;
        },
        fingerprint: (label, content) => wide.digest("hex", label, content),
      };
    },
  };
}

function isSignature(text: string): boolean {
  return /^[A-Za-z\d+/]{27}=$/.test(text);
}

/** Text that is signed after the URL; `undefined` when the signature cannot cover the body. */
async function signedFields(
  url: string | undefined,
  body: string | Uint8Array,
): Promise<string | undefined> {
  const hash = url === undefined ? undefined : bodyHash(url);
  if (hash !== undefined) return (await sha256(body)) === hash ? "" : undefined;
  if (body.length > maxForm) return undefined;
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  // By code unit, as Twilio does; of a field that is there twice with the same value, one counts.
  const fields = [...new URLSearchParams(text)].toSorted(
    ([name, value], [otherName, other]) => order(name, otherName) || order(value, other),
  );
  let signed = "";
  for (const [index, [name, value]] of fields.entries()) {
    const previous = fields[index - 1];
    if (previous?.[0] !== name || previous[1] !== value) signed += name + value;
  }
  return signed;
}

function order(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function bodyHash(url: string): string | undefined {
  return URL.parse(url)?.searchParams.get("bodySHA256") ?? undefined;
}

async function sha256(body: string | Uint8Array): Promise<string> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : Uint8Array.from(body);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The URL without a port and with one: Twilio signs either, whichever was configured. */
function portVariants(url: string): readonly string[] {
  const [, scheme = "", host = "", port = scheme === "https" ? "443" : "80", rest = ""] =
    /^(https?):(\/\/(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*))(?::(\d+))?(.*)$/s.exec(url) ?? [];
  return [`${scheme}:${host}${rest}`, `${scheme}:${host}:${port}${rest}`];
}
