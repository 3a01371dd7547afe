import type { Store } from "@fetchwork/documents";
import {
  openService,
  type OpenOptions,
  type OpenService,
  readStartSettings,
  type StartSettings,
} from "@fetchwork/service";
import { app } from "../src/app.ts";

export const masterKey = "test-master-key-test-master-key-0";
export const jwtSecret = "test-jwt-secret-test-jwt-secret-00";

/** What differs from the settings of tests: no limits, no mails. */
export type BlogSettings = Partial<StartSettings> & Pick<OpenOptions, "logs">;

/** Opens the blog on a store; nothing runs next to requests until it is started. */
export function openBlog(store: Store, { logs, ...settings }: BlogSettings = {}): OpenService {
  const known = readStartSettings(app, {
    MASTER_KEY: masterKey,
    JWT_SECRET: jwtSecret,
    TOKEN_LIFETIME: "60",
    SIGN_IN_LIMIT: "0",
    SIGN_IN_FAILURES: "0",
    PUBLIC_URL: "http://localhost",
  });
  return openService(app, store, { logs, settings: { ...known, mail: undefined, ...settings } });
}
