import { DocumentsTypeError } from "../../api/errors.ts";
import { optionNames, refuseUnknown } from "../../option-names.ts";
import { parsePostgresUrl, type PostgresAddress } from "./postgres-url.ts";

/** Options of a store on PostgreSQL. */
export interface PostgresOptions {
  /** The greatest number of connections to one server. Default: `10`. */
  readonly poolSize?: number | undefined;
  /** The time to wait for one connection attempt, in milliseconds. Default: `5_000`. */
  readonly connectTimeout?: number | undefined;
  /**
   * The time to look for a primary before an operation fails with `ERR_DOCUMENTS_CONNECTION`, in
   * milliseconds. It should outlast a failover. Default: `30_000`.
   */
  readonly failoverTimeout?: number | undefined;
  /** The time after which the server gives a statement up, in milliseconds. Default: `30_000`. */
  readonly statementTimeout?: number | undefined;
  /**
   * Whether the tables can be spread over servers: unique fields go through a table of claims
   * instead of unique indexes, and nothing relies on advisory locks or on the numbers of
   * transactions. Settled when the store is created; another value is refused later. Default: what
   * the store was created with, which is `false` for a new one.
   */
  readonly distributed?: boolean | undefined;
  /**
   * URLs of servers that follow the primary, for reads with `staleness`. Default: none.
   */
  readonly replicas?: readonly string[] | undefined;
}

/** {@link PostgresOptions} with their defaults. */
export interface PostgresSettings {
  readonly poolSize: number;
  readonly connectTimeout: number;
  readonly failoverTimeout: number;
  readonly statementTimeout: number;
  readonly distributed: boolean | undefined;
  readonly replicas: readonly PostgresAddress[];
}

const OPTIONS: ReadonlySet<string> = optionNames<PostgresOptions>({
  poolSize: true,
  connectTimeout: true,
  failoverTimeout: true,
  statementTimeout: true,
  distributed: true,
  replicas: true,
});
const MAX_TIMEOUT = 0x7fff_ffff;

/**
 * Checks the options and gives them their defaults.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parsePostgresOptions(options: PostgresOptions = {}): PostgresSettings {
  refuseUnknown(options, OPTIONS, wrong);
  const {
    poolSize = 10,
    connectTimeout = 5000,
    failoverTimeout = 30_000,
    statementTimeout = 30_000,
    distributed,
    replicas = [],
  } = options;
  if (distributed !== undefined && typeof distributed !== "boolean") {
    throw wrong('"distributed" is true or false');
  }
  return {
    poolSize: wholeNumber("poolSize", poolSize, { least: 2, most: 1000 }),
    connectTimeout: wholeNumber("connectTimeout", connectTimeout, { least: 1, most: MAX_TIMEOUT }),
    failoverTimeout: wholeNumber("failoverTimeout", failoverTimeout, {
      least: 0,
      most: MAX_TIMEOUT,
    }),
    statementTimeout: wholeNumber("statementTimeout", statementTimeout, {
      least: 1,
      most: MAX_TIMEOUT,
    }),
    distributed,
    replicas: parseReplicas(replicas),
  };
}

function parseReplicas(urls: unknown): readonly PostgresAddress[] {
  if (!Array.isArray(urls)) throw wrong('"replicas" is a list of URLs');
  return urls.map((url: unknown) => {
    const address = parsePostgresUrl(typeof url === "string" ? url : "");
    if (address.hosts.length === 1) return address;
    throw wrong('Each URL of "replicas" names one host');
  });
}

function wholeNumber(
  name: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw wrong(`"${name}" is a whole number from ${least} to ${most}`);
}

function wrong(message: string): DocumentsTypeError {
  return new DocumentsTypeError("ERR_DOCUMENTS_OPTIONS", message);
}
