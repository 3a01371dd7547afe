import { optionError } from "../errors.ts";
import { checkOptions } from "../check-options.ts";
import {
  changeProcessSettings,
  defaultProcessSettings,
  type ProcessSettings,
} from "../process-settings.ts";
import { defaultSnakyHashClass, type SnakyHashClass } from "./snaky-hash.ts";

/** Settings of all clients of a process; {@link configure} changes them. */
export interface Settings extends ProcessSettings {
  /** What makes the objects of responses. Default: one without hooks. */
  readonly snakyHashClass: SnakyHashClass;
}

const defaults: Settings = {
  ...defaultProcessSettings,
  snakyHashClass: defaultSnakyHashClass,
};

let current: Settings = Object.freeze(defaults);

/** Returns the current settings. */
export function settings(): Settings {
  return current;
}

/**
 * Changes settings of all clients of the process; a setting that is not given, or `undefined`,
 * stays.
 *
 * @example
 * ```ts
 * configure({ silenceNoTokensWarning: false, filteredLabel: "***" });
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when a value is of another type
 */
export function configure(changes: {
  readonly [K in keyof Settings]?: Settings[K] | undefined;
}): void {
  checkOptions("configure", changes, [
    "silenceExtraTokensWarning",
    "silenceNoTokensWarning",
    "filteredLabel",
    "filteredDebugKeys",
    "snakyHashClass",
  ]);
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) check(name, value);
  const next: Settings = { ...current, ...Object.fromEntries(given) };
  current = Object.freeze({
    ...next,
    filteredDebugKeys: Object.freeze([...next.filteredDebugKeys]),
  });
  changeProcessSettings(current);
}

/** Puts every setting back to its default. */
export function resetSettings(): void {
  configure(defaults);
}

function check(name: string, value: unknown): void {
  switch (name) {
    case "silenceExtraTokensWarning":
    case "silenceNoTokensWarning":
      if (typeof value !== "boolean") throw optionError(name, value, "true or false");
      return;
    case "filteredLabel":
      if (typeof value !== "string") throw optionError(name, value, "text");
      return;
    case "filteredDebugKeys":
      if (!Array.isArray(value) || value.some((key) => typeof key !== "string")) {
        throw optionError(name, value, "a list of names");
      }
      return;
    case "snakyHashClass":
      if (!isHashClass(value)) throw optionError(name, value, "an object with from, dump and load");
      break;
    default:
  }
}

/** Whether a value has the functions of a hash class. */
function isHashClass(value: unknown): value is SnakyHashClass {
  return (
    typeof value === "object" &&
    value !== null &&
    ["from", "dump", "load"].every((name) => typeof Reflect.get(value, name) === "function")
  );
}
