import { defineCollection, type Store } from "@fetchwork/documents";
import { json } from "@fetchwork/http";
import {
  createApi,
  createAuthentication,
  createResourceController,
  defineResource,
  defineRoute,
  hashPassword,
  resourceRoutes,
  type Account,
  type Api,
} from "@fetchwork/rest";
import { z } from "zod";

interface User {
  readonly email: string;
  readonly role: string;
  readonly passwordHash: string;
  readonly sessionVersion: number;
}

const users = defineCollection<User>("users", { unique: ["email"] });

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string().min(1), stars: z.number().int().default(0) }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "author",
  search: ["text"],
  filter: ["stars"],
  sort: ["stars"],
});

const noteRoutes = resourceRoutes(note, createResourceController(note));

/** The types of the notes, for the typed client. */
export type NoteRoutes = typeof noteRoutes;

/** The key that makes users. */
export const masterKey = "a-master-key-of-some-length-for-the-smoke-test";

/** An API of users, who sign in with a password, and of their notes. */
export function createNotesApi(store: Store): Api {
  const collection = store.collection(users);
  return createApi({
    title: "Notes",
    version: "1.0.0",
    store,
    authentication: createAuthentication({
      masterKey,
      jwtSecret: "a secret of some length for the smoke test",
      accounts: {
        byId: (id): Promise<Account | undefined> => collection.get(id),
        byEmail: async (email) => (await collection.find({ where: { email } }))[0],
      },
    }),
    routes: [
      ...noteRoutes,
      defineRoute({
        method: "POST",
        path: "/users",
        operation: "signUp",
        summary: "Makes a user",
        tag: "users",
        access: "master",
        body: z.object({ email: z.email(), password: z.string().min(8) }),
        responses: { 201: { description: "The user" } },
        async handle({ body: { email, password } }) {
          const passwordHash = await hashPassword(password);
          const user = { email, role: "user", passwordHash, sessionVersion: 1 };
          const { id } = await collection.insert(user);
          return json({ id }, { status: 201 });
        },
      }),
      defineRoute({
        method: "POST",
        path: "/auth",
        operation: "signIn",
        summary: "Signs a user in",
        tag: "users",
        access: "master+password",
        responses: { 201: { description: "A token" } },
        async handle({ user, tokens }) {
          return json({ token: await tokens.issue(user) }, { status: 201 });
        },
      }),
    ],
  });
}
