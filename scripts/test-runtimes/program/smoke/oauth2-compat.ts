import { OAuth2Client } from "@fetchwork/oauth2";
import { configure, resetSettings, snakeCase, snakyHashClass } from "@fetchwork/oauth2/compat";
import { expect } from "../platform.ts";

/** Hides a secret under another label, converts a key, and reads an object with a hook. */
export function smoke(): Promise<void> {
  configure({ filteredLabel: "***" });
  expect(
    "a client",
    JSON.stringify(new OAuth2Client("app", "secret").toJSON()).includes("***"),
    true,
  );
  resetSettings();
  expect("a key", snakeCase("accessToken"), "access_token");
  const dated = snakyHashClass({ loadValue: (value) => (value === "x" ? 1 : value) });
  expect("an object", dated.load('{"someKey":"x"}'), { some_key: 1 });
  return Promise.resolve();
}
