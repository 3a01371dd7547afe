import { CommandUsageError } from "../command/usage-error.ts";
import { deviceName } from "../files/device-name.ts";

/** Options of a new project. */
export interface ProjectOptions {
  /** Name of the package, of its store and of its webhooks. */
  readonly name: string;
  /** Name for people: title of the reference. */
  readonly title: string;
  readonly database: "sqlite" | "postgres";
  /** Whether users sign in. Without them there is only the master key. */
  readonly hasUsers: boolean;
  /**
   * Callers who sign users up and in: holders of the master key, or everyone, with an address that
   * a mail confirms; then lost passwords are set by mail, too. Default: `"master"`.
   */
  readonly signUp?: "master" | "public" | undefined;
  /** Whether users set a lost password with a link that is mailed to them. */
  readonly passwordResets: boolean;
  /** Whether admins subscribe endpoints to changes. */
  readonly webhooks: boolean;
  /** Shape of lists: an array, or `{ rows, count }`. */
  readonly list: "array" | "rows";
  readonly port: number;
}

/**
 * Describes what is wrong with the name of a project. It also names a package, a file and a vendor
 * of webhooks; `undefined` if it is valid.
 */
export function faultOfName(name: string): string | undefined {
  if (!/^[a-z][a-z\d]*(?:-[a-z\d]+)*$/.test(name)) {
    return "it must consist of lower-case letters, digits and single hyphens, and begin with a letter";
  }
  if (name.length > 40) return "it is longer than 40 characters";
  if (reserved.has(name)) return "it is the name of an existing package";
  if (deviceName.test(name)) return "Windows has a device of this name";
  return undefined;
}

/** Names that npm refuses, or that the project itself depends on. */
const reserved = new Set(["node", "fetchwork", "jose", "zod", "vitest", "typescript", "oxlint"]);
for (const name of ["nodemailer", "pino", "test", "favicon", "npm"]) reserved.add(name);

/** Derives a title from a name: `my-api` becomes `My Api`. */
export function titleOf(name: string): string {
  return name
    .split("-")
    .map((word) => (word === "api" ? "API" : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(" ");
}

/**
 * Describes what is wrong with a title, which becomes a text of the sources and a heading;
 * `undefined` if it is valid.
 */
export function faultOfTitle(title: string): string | undefined {
  if (/^[\p{L}\p{N}][\p{L}\p{N} .,'&+()-]{0,59}$/u.test(title)) return undefined;
  return `invalid title ${JSON.stringify(title)}: expected at most 60 letters, digits, spaces and . , ' & + ( ) -`;
}

/**
 * Checks that the options fit together, and adds what they require.
 *
 * @throws CommandUsageError
 */
export function checkProjectOptions(options: ProjectOptions): ProjectOptions {
  const { hasUsers, passwordResets, signUp, webhooks, port } = options;
  if (!hasUsers && passwordResets) {
    throw new CommandUsageError("--password-resets requires users: use --auth password");
  }
  if (!hasUsers && signUp === "public") {
    throw new CommandUsageError("--sign-up public requires users: use --auth password");
  }
  if (!hasUsers && webhooks) {
    throw new CommandUsageError(
      "--webhooks requires users, because admins manage the endpoints: use --auth password",
    );
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new CommandUsageError("the port must be a whole number from 1 to 65535");
  }
  return signUp === "public" ? { ...options, passwordResets: true } : options;
}
