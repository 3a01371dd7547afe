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
import type { OptionValues } from "../command/command.ts";
import { readSecret } from "../command/read-secret.ts";
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

/** Options of every command that signs or verifies. */
export const vendorOptions = {
  vendor: {
    type: "string",
    hint: "name",
    default: "vendor",
    description: "Vendor whose headers and signatures are used, such as github or stripe",
  },
  "secret-file": {
    type: "string",
    hint: "file",
    description: "File that contains the secret (default: FETCHWORK_WEBHOOK_SECRET)",
  },
} as const;

type VendorValues = OptionValues<typeof vendorOptions>;

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

/** Finds the secret: in a file, or in the environment. */
export function secretOf(values: VendorValues, io: CommandIo): Promise<string | undefined> {
  return readSecret(values["secret-file"], "FETCHWORK_WEBHOOK_SECRET", io);
}
