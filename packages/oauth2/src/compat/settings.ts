import { optionError } from "../errors.ts";
import { defaultSnakyHashClass, type SnakyHashClass } from "./snaky-hash.ts";
import { snakeCase } from "./snake-case.ts";
import { checkNames, optionsOf } from "../option-names.ts";

/** Settings of all clients of a process; {@link configure} changes them. */
export interface Settings {
  /** Whether to stay silent when a response has several fields that may be the token. Default: true. */
  readonly silenceExtraTokensWarning: boolean;
  /** Whether to stay silent when there is none. Default: true. */
  readonly silenceNoTokensWarning: boolean;
  /** Stands for a secret value in debug output and inspected objects. Default: `[FILTERED]`. */
  readonly filteredLabel: string;
  /**
   * Names of the fields whose values are replaced in debug output, in any spelling, with those that hold a secret
   * anyway: headers with credentials, `password` and the like, and in URLs and forms `code`, `state`, `nonce`, `request`
   * and `response`, which an API's own JSON may have. Default: every name of RFC 6749 and its companions that holds a
   * secret wherever it stands.
   */
  readonly filteredDebugKeys: readonly string[];
  /** What makes the objects of responses. Default: one without hooks. */
  readonly snakyHashClass: SnakyHashClass;
}

const defaults: Settings = {
  silenceExtraTokensWarning: true,
  silenceNoTokensWarning: true,
  filteredLabel: "[FILTERED]",
  filteredDebugKeys: [
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "assertion",
    "code_verifier",
    "token",
    "client_assertion",
    "device_code",
    "user_code",
    "password",
    "subject_token",
    "actor_token",
    "logout_token",
    "id_token_hint",
    "login_hint_token",
    "request_uri",
    "registration_access_token",
    "verification_uri_complete",
    "api_key",
    "secret",
  ],
  snakyHashClass: defaultSnakyHashClass,
};

const settingNames = optionsOf<Settings>("configure", {
  silenceExtraTokensWarning: true,
  silenceNoTokensWarning: true,
  filteredLabel: true,
  filteredDebugKeys: true,
  snakyHashClass: true,
});

let current: Settings = Object.freeze(defaults);
let keys: ReadonlySet<string> = new Set(defaults.filteredDebugKeys);

/** Returns the current settings. */
export function settings(): Settings {
  return current;
}

/** Returns the filtered keys, in snake case. */
export function filteredKeys(): ReadonlySet<string> {
  return keys;
}

/**
 * Changes settings of all clients of the process; a setting that is not given, or `undefined`, stays.
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
  checkNames(changes, settingNames);
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) check(name, value);
  const next: Settings = { ...current, ...Object.fromEntries(given) };
  keys = new Set(next.filteredDebugKeys.map(snakeCase));
  current = Object.freeze({
    ...next,
    filteredDebugKeys: Object.freeze([...next.filteredDebugKeys]),
  });
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
