import { snakeCase } from "./snake-case.ts";
import type { SnakyHashMaker } from "./snaky-hash.ts";

/** Settings of all clients of a process, which `configure` of the compat entry changes. */
export interface ProcessSettings {
  /** Whether to be silent when several fields of a response may be the token. Default: true. */
  readonly silenceExtraTokensWarning: boolean;
  /** Whether to stay silent when there is none. Default: true. */
  readonly silenceNoTokensWarning: boolean;
  /** Stands for a secret value in debug output and inspected objects. Default: `[FILTERED]`. */
  readonly filteredLabel: string;
  /**
   * Names of the fields whose values are replaced in debug output, in any spelling. Fields that
   * hold a secret anyway are added: headers with credentials, `password` and the like, and in URLs
   * and forms `code`, `state`, `nonce`, `request` and `response`, which an API's own JSON may have.
   * Default: every name of RFC 6749 and its companions that holds a secret wherever it stands.
   */
  readonly filteredDebugKeys: readonly string[];
  /** Makes the objects of responses. Default: an object with snake_case keys. */
  readonly snakyHashClass?: SnakyHashMaker | undefined;
}

export const defaultProcessSettings: Omit<ProcessSettings, "snakyHashClass"> = {
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
};

let current: ProcessSettings = defaultProcessSettings;
let keys: ReadonlySet<string> = new Set(defaultProcessSettings.filteredDebugKeys);

/** Returns the settings. */
export function processSettings(): ProcessSettings {
  return current;
}

/** Returns the names of fields whose values are hidden, in snake case. */
export function filteredKeys(): ReadonlySet<string> {
  return keys;
}

/** Replaces the settings. */
export function changeProcessSettings(settings: ProcessSettings): void {
  current = settings;
  keys = new Set(settings.filteredDebugKeys.map(snakeCase));
}
