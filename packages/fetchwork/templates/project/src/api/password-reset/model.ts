// #if resets
import { createPasswordResets, type JsonSchema, type Schema } from "@fetchwork/rest";
import { z } from "zod";
import { newUser, user } from "../user/model.ts";

/** Tokens that set a lost password, once and within an hour. */
export const resets = createPasswordResets({ users: user.collection });

/** What the holder of a token sees of the user: whose password it is about to set. */
export const holderView = ["id", "name", "picture", "email"] as const;

/** An address, and where the page is to which the token in the mail belongs. */
export interface NewReset {
  readonly email: string;
  /** Without a slash at its end. */
  readonly link: string;
}

/** What is sent to have a mail sent. */
export function newReset(linkOrigins: readonly string[] | undefined): Schema<NewReset> {
  return z.object({ email: newUser.shape.email, link: linkTo(linkOrigins) });
}

export const shownReset: JsonSchema = {
  type: "object",
  properties: {
    user: {
      type: "object",
      properties: Object.fromEntries(
        holderView.map((field) => [field, (user.output["properties"] as JsonSchema)[field]]),
      ),
      required: holderView,
    },
  },
  required: ["user"],
};

/** Takes a link to a page of ours, so that no mail of ours leads anywhere else. */
function linkTo(origins: readonly string[] | undefined): z.ZodType<string, string> {
  return z
    .url({ protocol: /^https?$/ })
    .max(500)
    .refine((link) => isPage(link, origins), {
      message: "link must be of an origin in RESET_LINK_ORIGINS, without a query",
    })
    .transform((link) => new URL(link).href.replace(/\/+$/, ""));
}

function isPage(link: string, origins: readonly string[] | undefined): boolean {
  // Behind a `?` the token would be a part of the query, which servers log.
  if (!URL.canParse(link) || link.includes("?")) return false;
  const { origin, username, password } = new URL(link);
  return (origins?.includes(origin) ?? true) && `${username}${password}` === "";
}
// #endif
