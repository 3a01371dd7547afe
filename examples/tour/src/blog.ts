import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { openService, readStartSettings } from "@fetchwork/service";
import { app } from "../../blog/src/app.ts";
import type { FrontDoor } from "./front-door.ts";

/** Name of the provider in the blog's paths: `/auth/home`. */
export const providerName = "home";

/** Sign-ins with a password that the blog takes from one address in a minute. */
export const signInLimit = 5;

/** What the blog is started with. */
export interface BlogOptions {
  readonly door: FrontDoor;
  /** Its database is made there. */
  readonly folder: string;
  readonly masterKey: string;
  /** The provider that users sign in with. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The blog while it runs. */
export interface Blog {
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts the API of `examples/blog` on a new database. */
export async function startBlog(options: BlogOptions): Promise<Blog> {
  const { door, folder, masterKey, issuer, clientId, clientSecret } = options;
  const { origin } = door;
  const store = await openStore(`sqlite:${join(folder, "blog.db")}`, {
    collections: app.collections,
  });
  const provider = `OIDC_${providerName.toUpperCase()}`;
  const settings = readStartSettings(app, {
    MASTER_KEY: masterKey,
    JWT_SECRET: crypto.randomUUID(),
    TOKEN_LIFETIME: "60",
    SIGN_IN_LIMIT: String(signInLimit),
    PUBLIC_URL: origin,
    [`${provider}_ISSUER`]: issuer,
    [`${provider}_CLIENT_ID`]: clientId,
    [`${provider}_CLIENT_SECRET`]: clientSecret,
    // The receiver of the tour is on this machine.
    WEBHOOKS_TO_PRIVATE: "yes",
  });
  const opened = openService(app, store, { settings });
  door.open(opened.handler);
  await opened.start();
  return {
    origin,
    async close() {
      await opened.stop({ grace: 0 });
      await store.close();
    },
  };
}
