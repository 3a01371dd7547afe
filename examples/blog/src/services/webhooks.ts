import type { Store } from "@fetchwork/documents";
import { defineVendor, vendor, Webhooks } from "@fetchwork/webhooks";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import type { Config } from "../config.ts";

/** What happens in a blog. */
export interface BlogEvents {
  readonly article: ChangeOf<"article">;
  readonly "article.created": ChangeOf<"article">;
  readonly "article.updated": ChangeOf<"article">;
  readonly "article.removed": ChangeOf<"article">;
  readonly user: ChangeOf<"user">;
  readonly "user.created": ChangeOf<"user">;
  readonly "user.updated": ChangeOf<"user">;
  readonly "user.removed": ChangeOf<"user">;
}

type ChangeOf<Name extends string> = {
  readonly action: "created" | "updated" | "removed";
} & Readonly<Record<Name, { readonly id: string } & Readonly<Record<string, unknown>>>>;

/** How the blog signs what it sends, and what it takes at the default path. */
export const blogVendor = defineVendor<BlogEvents>({
  ...vendor,
  name: "blog",
  events: undefined,
  eventNames: ["article", "user"].flatMap((name) => [
    name,
    ...["created", "updated", "removed"].map((action) => `${name}.${action}`),
  ]) as (keyof BlogEvents)[], // Just the names of the interface.
});

/** Sends the blog's events to the endpoints that admins subscribe. */
export function createBlogSender(
  store: Store,
  { webhooksToPrivate: isOpen }: Pick<Config, "webhooksToPrivate">,
): Sender {
  return createSender({ store, vendor: blogVendor, allowHttp: isOpen, allowPrivate: isOpen });
}

/** Receives events: register what should happen with `on`. */
export function createReceiver(secret: string): Webhooks<BlogEvents> {
  const webhooks = new Webhooks({ secret, vendor: blogVendor, replay: true });
  webhooks.on(["article", "user"], ({ id, name, payload }) => {
    console.log(`webhook ${id}: ${name}.${payload.action}`);
  });
  return webhooks;
}
