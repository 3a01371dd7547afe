import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { type DocumentsTypeError, optionError } from "../../../api/errors.ts";

/** One server of a cluster. */
export interface Host {
  /** The name or address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** Parts of a URL of PostgreSQL. */
export interface PostgresAddress {
  /** The servers, of which one at a time is the primary. */
  readonly hosts: readonly Host[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly ssl: ConnectionOptions | false;
  readonly applicationName: string;
}

const urlParts =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^/?#@]*)(?:\/(?<database>[^/?#]*))?(?:\?(?<query>[^#]*))?$/i;
const hostPattern = /^(?<name>\[[0-9a-f:.]+\]|[^:[\]]*)(?::(?<port>\d{1,5}))?$/i;
const sslModes = ["disable", "require", "verify-ca", "verify-full"];
const sslFiles = ["sslrootcert", "sslcert", "sslkey"];
const knownParameters = ["application_name", "host", "sslmode", ...sslFiles];
const defaultPort = 5432;

/**
 * Takes a URL of PostgreSQL apart, also one with several hosts (`postgres://u@a:5432,b/db`).
 *
 * Nothing of the URL is shown in errors, because a malformed one may show a password elsewhere.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parsePostgresUrl(url: string): PostgresAddress {
  const parts = urlParts.exec(url)?.groups;
  if (parts === undefined) {
    throw wrong(
      'expected "postgres://user:password@host:port/database", with each part percent-encoded',
    );
  }
  const parameters = parseParameters(parts["query"] ?? "");
  const user = decode(parts["user"] ?? "") || "postgres";
  const folder = parameters.get("host");
  return {
    hosts: folder === undefined ? parseHosts(parts["hosts"] ?? "") : [socketHost(folder, parts)],
    user,
    password: parts["password"] === undefined ? undefined : decode(parts["password"]),
    database: decode(parts["database"] ?? "") || user,
    ssl: parseTls(parameters),
    applicationName: parameters.get("application_name") ?? "fetchwork",
  };
}

function parseParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!knownParameters.includes(name)) {
      const known = knownParameters.join(", ");
      throw wrong(`a parameter is unknown, expected ${known}`);
    }
    if (parameters.has(name)) throw wrong(`the parameter ${name} is set twice`);
    parameters.set(name, value);
  }
  return parameters;
}

function parseHosts(text: string): readonly Host[] {
  return text.split(",").map((part) => {
    const groups = hostPattern.exec(part)?.groups;
    if (groups === undefined) throw wrong("a host is malformed");
    const host = decode(groups["name"] ?? "").replace(/^\[(.*)\]$/, "$1");
    return { host: host || "localhost", port: parsePort(groups["port"]) };
  });
}

/** A parameter `host` names the folder of a Unix socket; the port then has no host. */
function socketHost(folder: string, parts: Readonly<Record<string, string | undefined>>): Host {
  if (!folder.startsWith("/"))
    throw wrong('the parameter "host" must be the folder of a Unix socket');
  const [first] = parseHosts(parts["hosts"] ?? "");
  return { host: folder, port: first?.port ?? defaultPort };
}

function parsePort(text: string | undefined): number {
  const port = text === undefined ? defaultPort : Number(text);
  if (port < 1 || port > 0xffff) throw wrong("a port must be from 1 to 65535");
  return port;
}

/**
 * Without `sslmode` there is no TLS. `require` encrypts without knowing the server, which does not
 * keep an attacker in between out; `verify-ca` checks the certificate, `verify-full` its name too.
 * As in libpq, `require` with `sslrootcert` is `verify-ca`.
 */
function parseTls(parameters: ReadonlyMap<string, string>): ConnectionOptions | false {
  const mode = parameters.get("sslmode") ?? "disable";
  if (!sslModes.includes(mode)) throw wrong(`"sslmode" must be one of ${sslModes.join(", ")}`);
  if (mode === "disable") {
    const unused = sslFiles.find((name) => parameters.has(name));
    if (unused !== undefined) throw wrong(`"${unused}" has no effect without an "sslmode"`);
    return false;
  }
  if (parameters.has("sslcert") !== parameters.has("sslkey")) {
    throw wrong('"sslcert" and "sslkey" must be set together');
  }
  const ca = readParameter(parameters, "sslrootcert");
  const cert = readParameter(parameters, "sslcert");
  const key = readParameter(parameters, "sslkey");
  return {
    rejectUnauthorized: mode !== "require" || ca !== undefined,
    ...(mode !== "verify-full" ? { checkServerIdentity: () => undefined } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function readParameter(parameters: ReadonlyMap<string, string>, name: string): Buffer | undefined {
  const path = parameters.get(name);
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch {
    throw wrong(`the file of "${name}" cannot be read`);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong("a percent sign is not followed by two hex digits");
  }
}

function wrong(reason: string): DocumentsTypeError {
  return optionError(`the URL of PostgreSQL is invalid: ${reason}`);
}
