import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Vendor } from "@fetchwork/webhooks";
import {
  fetchwork,
  github,
  gitlab,
  shopify,
  slack,
  square,
  standardWebhooks,
  stripe,
  svix,
  twilio,
  vendor,
} from "@fetchwork/webhooks/vendors";
import type { CommandIo } from "../command/command-io.ts";
import type { CommandOption } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";

/** All vendors, by name. */
export const vendors: ReadonlyMap<string, Vendor> = new Map(
  [
    vendor,
    fetchwork,
    github,
    standardWebhooks,
    stripe,
    slack,
    shopify,
    gitlab,
    square,
    svix,
    twilio,
  ].map((one) => [one.name, one]),
);

/** The variable that holds a secret, which must not be on a command line. */
const secretVariable = "FETCHWORK_WEBHOOK_SECRET";

type TextOption = CommandOption & { readonly type: "string"; readonly multiple?: false };

/** Options of every command that signs or verifies. */
export const vendorOptions: {
  readonly vendor: TextOption & { readonly default: string };
  readonly secret: TextOption & { readonly default?: never };
  readonly "secret-file": TextOption & { readonly default?: never };
} = {
  vendor: {
    type: "string",
    hint: "name",
    default: "vendor",
    description: `Vendor whose headers and signatures are used: ${[...vendors.keys()].join(", ")}`,
  },
  secret: {
    type: "string",
    short: "s",
    description: `Secret; visible to others on this machine, so prefer ${secretVariable} or a file`,
  },
  "secret-file": { type: "string", hint: "file", description: "File that contains the secret" },
};

/** Values of {@link vendorOptions}. */
interface VendorValues {
  readonly vendor: string;
  readonly secret?: string | undefined;
  readonly "secret-file"?: string | undefined;
}

/**
 * Finds the vendor that was named.
 *
 * @throws CommandUsageError
 */
export function vendorOf({ vendor: name }: VendorValues): Vendor {
  const found = vendors.get(name);
  if (found !== undefined) return found;
  throw new CommandUsageError(`--vendor must be one of ${[...vendors.keys()].join(", ")}`);
}

/** Finds the secret: an option, a file, or the environment. */
export async function secretOf(values: VendorValues, io: CommandIo): Promise<string | undefined> {
  const file = values["secret-file"];
  if (values.secret !== undefined && file !== undefined) {
    throw new CommandUsageError("--secret and --secret-file cannot be combined");
  }
  if (file === undefined) return values.secret ?? (io.env[secretVariable] || undefined);
  return (await readFile(resolve(io.cwd, file), "utf8")).replace(/\r?\n$/, "");
}
