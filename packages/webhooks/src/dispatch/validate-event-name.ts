import type { Logger } from "@fetchwork/kit";
import { optionError, WebhookUsageError } from "../errors.ts";
import { vendor as defaultVendor } from "../vendors/default-vendor.ts";
import { completeLogger } from "../logger.ts";
import { checkOptions } from "../check-options.ts";
import { checkVendor, type Vendor } from "../vendors/define-vendor.ts";

/** Options of {@link validateEventName}. */
export interface ValidateEventNameOptions {
  /** Action for an unknown name. Default: `"throw"`. */
  readonly onUnknownEventName?: "throw" | "warn" | "ignore" | undefined;
  /** Receives the warning. Default: the console. */
  readonly log?: Partial<Logger> | undefined;
  /** The vendor whose names are known. Default: `vendor`. */
  readonly vendor?: Vendor | undefined;
}

/**
 * Checks that handlers can be registered for a name.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_EVENT_NAME` for a value that is not a string, for `*` and
 *   `error` always, and for an unknown name unless `onUnknownEventName` is `warn` or `ignore`
 */
export function validateEventName(name: string, options: ValidateEventNameOptions = {}): void {
  checkOptions("validateEventName", options, ["onUnknownEventName", "log", "vendor"]);
  const { vendor = defaultVendor, onUnknownEventName = "throw", log } = options;
  checkVendor(vendor);
  createNameCheck(vendor, onUnknownEventName, completeLogger(log))(name);
}

/** Makes a check of names for one vendor, which returns the name. */
export function createNameCheck(
  vendor: Vendor,
  onUnknown: "throw" | "warn" | "ignore",
  log: Logger,
): (name: unknown) => string {
  if (onUnknown !== "throw" && onUnknown !== "warn" && onUnknown !== "ignore") {
    throw optionError("onUnknownEventName", onUnknown, '"throw", "warn" or "ignore"');
  }
  return (name) => {
    if (typeof name !== "string") throw nameError("eventName must be of type string");
    if (name === "*") throw nameError(reserved("*", "onAny"));
    if (name === "error") throw nameError(reserved("error", "onError"));
    if (onUnknown === "ignore" || isKnown(vendor, name)) return name;
    const message = `${JSON.stringify(name.slice(0, 200))} is not a known webhook name of ${vendor.name}`;
    if (onUnknown === "throw") throw nameError(message);
    log.warn(message);
    return name;
  };
}

function isKnown({ eventNames }: Vendor, name: string): boolean {
  return eventNames.length === 0 || eventNames.includes(name);
}

function reserved(name: string, method: string): string {
  return `Using the "${name}" event with on() is not supported; use ${method}() instead`;
}

function nameError(message: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_EVENT_NAME", message);
}
