import { defineResource, type DocumentOf } from "@fetchwork/rest";
import { z } from "zod";

const email = z.string().trim().max(254).check(z.email()).toLowerCase();
const name = z.string().trim().max(100);
const picture = z.url({ protocol: /^https?$/ }).max(2_000);
/** A form cannot send `null`, so the empty text stands for it. */
const noText = z.literal("").transform(() => null);
const role = z.enum(["user", "admin"]);
/** Without control characters, which HTTP Basic cannot carry (RFC 7617, 2). */
const password = z
  .string()
  .min(6)
  .max(200)
  .regex(/^\P{Cc}*$/u, "password must not contain control characters");

/** Users. What they see of themselves and admins see of them, others do not. */
export const user = defineResource({
  name: "user",
  path: "/users",
  schema: z.object({ name, picture, email, role }),
  hidden: z.object({ passwordHash: z.string(), sessionVersion: z.number() }),
  owner: "id", // each user is its own owner
  access: { list: "admin", show: "user", create: "master", update: "owner", remove: "admin" },
  view: ["id", "name", "picture", "email", "role", "createdAt"],
  views: { public: ["id", "name", "picture"], self: "all", admin: "all" },
  unique: ["email"],
  search: ["name", "email"],
  sort: ["name", "email"],
});

/** A user as the store keeps it. */
export type User = DocumentOf<typeof user>;

/** The same without what the store itself keeps. */
export type UserFields = NonNullable<(typeof user.collection)["document"]>;

/** A user as it sees itself, and as admins do. */
export const shownUser = z.object({
  id: z.string(),
  name: z.string(),
  picture: z.string(),
  email: z.string(),
  role,
  createdAt: z.string(),
});

/** A user as somebody sees it. */
export const userByAnyone = shownUser.partial({ email: true, role: true, createdAt: true });

/** A page of users, of the fields that were asked for. */
export const userPage = z.array(shownUser.partial());

/** What the holder of the master key sends to create a user. */
export const newUser = z.object({
  email,
  password,
  name: name.optional(),
  picture: z.union([noText, picture]).optional(),
  role: role.default("user"),
});

/** What users change of themselves; `null` goes back to what their email gives. */
export const userChange = z.object({
  name: name.nullable().optional(),
  picture: z.union([noText, picture]).nullable().optional(),
});

export const newPassword = z.object({ password });
