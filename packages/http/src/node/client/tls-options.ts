import type { SecureContextOptions, SecureVersion } from "node:tls";
import { checkOptions } from "../../check-options.ts";
import { HttpUsageError } from "../../errors.ts";
import { checkType, optionError } from "../../option-values.ts";

/** TLS of a connection; a certificate and its key make it mutual TLS. */
export interface ClientTlsOptions {
  /** Certificate chain of the client, PEM. Default: none. */
  readonly cert?: string | Uint8Array | undefined;
  /** Private key for `cert`, PEM. Default: none. */
  readonly key?: string | Uint8Array | undefined;
  /** Passphrase of `key` or `pfx`. Default: none. */
  readonly passphrase?: string | undefined;
  /** Certificate and key in one, PKCS#12. Default: none. */
  readonly pfx?: Uint8Array | undefined;
  /** Certificates to trust instead of the platform's, PEM. Default: the platform's. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /** Name to ask for and to find in the certificate. Default: the host of the URL. */
  readonly servername?: string | undefined;
  /** Whether a certificate must be trusted and match. Default: `true`; `false` is unsafe. */
  readonly rejectUnauthorized?: boolean | undefined;
  /** Oldest version of TLS. Default: the platform's. */
  readonly minVersion?: SecureVersion | undefined;
}

/** Refuses TLS options of the wrong kind; values are never shown. */
export function checkTls(tls: ClientTlsOptions | undefined, name: string): void {
  if (tls === undefined) return;
  if (typeof tls !== "object" || tls === null) throw optionError(name, tls, "an object");
  checkOptions<ClientTlsOptions>("tls", tls, [
    "cert",
    "key",
    "passphrase",
    "pfx",
    "ca",
    "servername",
    "rejectUnauthorized",
    "minVersion",
  ]);
  checkType(tls.rejectUnauthorized, `${name}.rejectUnauthorized`, "boolean");
  checkType(tls.servername, `${name}.servername`, "string");
  if (tls.cert !== undefined && tls.key === undefined) {
    throw new HttpUsageError("ERR_HTTP_OPTION", `option ${name}.cert needs ${name}.key`);
  }
  if (tls.key !== undefined && tls.cert === undefined) {
    throw new HttpUsageError("ERR_HTTP_OPTION", `option ${name}.key needs ${name}.cert`);
  }
}

/** Checks of Node on a server. */
interface Verification {
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

/** Writes the options as Node takes them: only those that are there, and bytes as buffers. */
export function toConnectionOptions(tls: ClientTlsOptions): SecureContextOptions & Verification {
  const { cert, key, passphrase, pfx, ca, rejectUnauthorized, servername, minVersion } = tls;
  return {
    ...(cert === undefined ? {} : { cert: pem(cert) }),
    ...(key === undefined ? {} : { key: pem(key) }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(pfx === undefined ? {} : { pfx: Buffer.from(pfx) }),
    ...(ca === undefined
      ? {}
      : { ca: typeof ca === "string" || ca instanceof Uint8Array ? pem(ca) : ca.map(pem) }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    ...(servername === undefined ? {} : { servername }),
    ...(minVersion === undefined ? {} : { minVersion }),
  };
}

function pem(value: string | Uint8Array): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}
