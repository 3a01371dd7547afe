import { z } from "zod";
import { checkDefinition } from "../../check-options.ts";
import { check } from "../../errors.ts";
import { etagOf } from "../../etag.ts";
import type { Fields } from "../../fields.ts";
import { defineResource } from "../../resource/define-resource.ts";
import type { Operation, ResourceRule } from "../../resource/access-rules.ts";
import type { FieldAccess, FieldRule, FieldRules } from "../../resource/field-access.ts";
import type { ResourceHooks } from "../../resource/hooks.ts";
import type { Resource } from "../../resource/resource.ts";
import type { ResourceOptions } from "../../resource/resource-options.ts";
import type { Schema } from "../../schema.ts";
import type { ShownUser, UserInput } from "../account-operations.ts";
import { nameOf, pictureOf } from "./profile.ts";
import { emailSchema, name, passwordSchema, picture, role } from "./user-fields.ts";

/** Fields of every user that clients send and see. */
export interface UserFields {
  readonly name?: string | null | undefined;
  readonly picture?: string | null | undefined;
  readonly email: string;
  readonly role: "user" | "admin";
}

/** A user as the store keeps it. */
export interface StoredUser extends UserFields {
  readonly passwordHash: string;
  readonly sessionVersion: number;
  /** Set when the user proved to own the email: by mail or a verifying provider. */
  readonly verified?: true | undefined;
  /** Set while an open sign-up waits for the link that was mailed. */
  readonly unconfirmed?: true | undefined;
}

/** Fields that are set for a user who has proved to own the email. */
export const proven = { verified: true, unconfirmed: undefined } as const;

/** The users of an API: a resource at `/users` whose documents own themselves. */
export interface UserResource<Extra extends object = object, Given = unknown> extends Resource<
  Schema<UserFields & Extra>,
  "users",
  ShownUser & Partial<Extra>,
  Flat<StoredUser & Extra>
> {
  /** Schema of the body that creates a user. */
  readonly creation: z.ZodObject & z.ZodType<unknown, UserInput & Given>;
}

/** Written out, since an interface does not count as a record. */
type Flat<T> = { [Field in keyof T]: T[Field] };

/** Fields of users and their rules, in addition to those of every user. */
export interface UserOptions<Extra extends object = object, Given = unknown> extends Pick<
  ResourceOptions<Schema>,
  "changes" | "list" | "populate" | "relations"
> {
  /** Further fields that users set: `{ city: z.string().optional() }`. Default: none. */
  readonly schema?: (z.ZodObject & z.ZodType<Extra, Given>) | undefined;
  /**
   * Rules of who sees and who sets single fields of `schema`: `{ plan: { write: "admin" } }`. It
   * holds for sign-ups too. Of the other fields it says only who sees them:
   * `{ email: { read: "user" } }`. Default: everyone sees `id`, `name` and `picture`, the user and
   * admins all, and users set all of `schema`.
   */
  readonly fields?: (NoInfer<FieldAccess<Extract<keyof Extra, string>>> & ReadRules) | undefined;
  /**
   * Default picture, for the user and admins: `"gravatar"` for that of the email at Gravatar, whose
   * URL contains a hash of the email. Default: a pattern that follows from the `id`.
   */
  readonly picture?: "gravatar" | undefined;
  /** Callers who may list, show and delete users. Default: admins, users, and admins. */
  readonly access?: Partial<Record<Extract<Operation, "list" | "remove" | "show">, ResourceRule>>;
  /** Further fields to search, to sort and to filter by. Default: none. */
  readonly search?: readonly string[] | undefined;
  /** Fields to sort the list of users by. Default: as of every resource. */
  readonly sort?: readonly string[] | undefined;
  /** Fields to filter the list of users by. Default: none. */
  readonly filter?: readonly string[] | undefined;
  /** Hooks, as of every resource; those of a creation run for sign-ups too. Default: none. */
  readonly hooks?: ResourceHooks<StoredUser> | undefined;
}

/**
 * Defines the users of an API: name, picture, email and role, the password as a hash, and fields of
 * your own.
 *
 * @throws RestError `ERR_REST_DEFINITION` as `defineResource` does, and for a field that every user
 * has already.
 *
 * @example
 * ```ts
 * const user = defineUser({ schema: z.object({ city: z.string().max(100).optional() }) });
 * ```
 */
export function defineUser<Extra extends object = object, Given = unknown>(
  options: UserOptions<Extra, Given> = {},
): UserResource<Extra, Given> {
  checkDefinition("defineUser", options, [
    "schema",
    "fields",
    "picture",
    "access",
    "search",
    "sort",
    "filter",
    "list",
    "changes",
    "relations",
    "populate",
    "hooks",
  ]);
  const { access, filter, hooks, list, populate, relations, search = [], sort = [] } = options;
  check(
    options.picture === undefined || options.picture === "gravatar",
    `picture of users must be "gravatar", got ${JSON.stringify(options.picture)}`,
  );
  const own = { name, picture, email: emailSchema, role };
  const extra: z.ZodRawShape = options.schema?.shape ?? {};
  const taken = ["name", "picture", ...Object.keys(setByProgram), "password"].find((field) =>
    Object.hasOwn(extra, field),
  );
  check(
    taken === undefined,
    `the schema of users has the field ${taken}, which every user has already`,
  );
  const shown = ["id", ...Object.keys(own), "emailVerified", ...Object.keys(extra), "createdAt"];
  const schema = z.object({ ...own, ...extra, ...setByProgram }) as Schema<UserFields & Fields>;
  const resource = defineResource({
    name: "user",
    path: "/users",
    schema,
    // Fields that a user has not set are not stored, and shown only to viewers of the email.
    derived: {
      name: { from: "email", value: (user) => nameOf(user.email) },
      picture: { from: "email", value: ({ email, id }) => pictureOf(options.picture ? email : id) },
    },
    owner: "id",
    access: {
      list: "admin",
      show: "user",
      remove: "admin",
      ...access,
      create: "master",
      update: "owner",
    },
    fields: {
      ...fieldRules(shown, extra, options.fields),
      passwordHash: "nobody",
      sessionVersion: "nobody",
      verified: "nobody",
      unconfirmed: "nobody",
      updatedAt: "nobody",
    },
    computed: {
      emailVerified: {
        schema: z.boolean(),
        value: (document: object) => (Reflect.get(document, "unconfirmed") ? false : undefined),
      },
    },
    unique: ["email"],
    search: ["name", "email", ...search],
    sort: ["name", "email", ...sort],
    filter,
    list,
    changes: options.changes,
    relations,
    populate,
    // Hooks get documents of the store, which have the fields of the schema.
    hooks: hooks as ResourceHooks<never> | undefined,
  });
  const creation = z.object({
    ...extra,
    name,
    picture,
    email: emailSchema,
    password: passwordSchema,
    role: role.default("user"),
  });
  // `me` shows each caller another user, so entity tags of what users see of themselves name the
  // user.
  const tagOf: typeof resource.tagOf = (document, viewer) =>
    viewer.user?.id === document.id
      ? etagOf(document, document.id)
      : resource.tagOf(document, viewer);
  const users: unknown = { ...resource, creation, tagOf };
  return users as UserResource<Extra, Given>;
}

/**
 * Fields that no update sends. So the defaults are never used: a schema takes a body without the
 * fields that nobody sets.
 */
const setByProgram = {
  email: emailSchema.default(""),
  role: role.default("user"),
  passwordHash: z.string().default(""),
  sessionVersion: z.number().default(0),
  verified: z.literal(true).optional(),
  unconfirmed: z.literal(true).optional(),
};

/** Rules of who sees the fields of every user, which nobody sets by them. */
type ReadRules = {
  readonly [Field in "createdAt" | "email" | "emailVerified" | "name" | "picture" | "role"]?:
    { readonly read: FieldRule } | undefined;
};

const forEveryone: readonly string[] = ["id", "name", "picture"];

/**
 * Makes the rules of all fields that are shown of users: what nobody has opened is for the user and
 * admins.
 *
 * @throws RestError `ERR_REST_DEFINITION` for who sets a field that is not one of the schema.
 */
function fieldRules(
  shown: readonly string[],
  extra: z.ZodRawShape,
  given: FieldAccess = {},
): FieldAccess {
  for (const [field, rule] of Object.entries(given)) {
    const isRead = typeof rule === "object" && rule.write === undefined && !rule.update;
    check(
      Object.hasOwn(extra, field) || (isRead && shown.includes(field)),
      `fields of users names ${field}, expected a field of their schema`,
    );
  }
  const rules = shown.map((field) => {
    const read: FieldRule = forEveryone.includes(field) ? "public" : "owner";
    const write = Object.hasOwn(setByProgram, field) ? "nobody" : undefined;
    const own = given[field];
    const rule: FieldRule | FieldRules = typeof own === "string" ? own : { read, write, ...own };
    return [field, rule] as const;
  });
  return Object.fromEntries(rules);
}
