import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { createApp } from "../../blog/src/app.ts";
import { collections } from "../../blog/src/definitions.ts";
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
  const store = await openStore(`sqlite:${join(folder, "blog.db")}`, { collections });
  const app = createApp(
    {
      masterKey,
      jwtSecret: crypto.randomUUID(),
      tokenLifetime: 60,
      publicUrl: origin,
      providers: [{ name: providerName, issuer, clientId, clientSecret, audience: origin }],
      signInLimit,
      // The receiver of the tour is on this machine.
      webhooksToPrivate: true,
    },
    store,
  );
  door.open(app.handler);
  app.sender.start();
  return {
    origin,
    async close() {
      await app.sender.stop({ grace: 0 });
      await store.close();
    },
  };
}
