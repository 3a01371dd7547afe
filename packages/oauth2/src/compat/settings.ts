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
  /** Makes the objects of responses. Default: one without hooks. */
  readonly snakyHashClass: SnakyHashClass;
}

const defaults: Settings = {
  ...defaultProcessSettings,
  snakyHashClass: defaultSnakyHashClass,
};

let current: Settings = Object.freeze(defaults);

const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isText = (value: unknown): boolean => typeof value === "string";
const isListOfNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** Check of each setting, and the form that it expects. */
const forms: { readonly [K in keyof Settings]: [(value: unknown) => boolean, string] } = {
  silenceExtraTokensWarning: [isBoolean, "true or false"],
  silenceNoTokensWarning: [isBoolean, "true or false"],
  filteredLabel: [isText, "text"],
  filteredDebugKeys: [isListOfNames, "a list of names"],
  snakyHashClass: [isHashClass, "an object with from, dump and load"],
};

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
  checkOptions("configure", changes, Object.keys(forms) as (keyof Settings)[]);
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const [isValid, expected] = forms[name as keyof Settings];
    if (!isValid(value)) throw optionError(name, value, expected);
  }
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

/** Whether a value has the functions of a hash class. */
function isHashClass(value: unknown): value is SnakyHashClass {
  return (
    typeof value === "object" &&
    value !== null &&
    ["from", "dump", "load"].every((name) => typeof Reflect.get(value, name) === "function")
  );
}
