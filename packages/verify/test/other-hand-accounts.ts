import { empty, json } from "@fetchwork/http";
import { defineResource, Problem, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { forbidden, notFound } from "@fetchwork/rest/handlers";
import { accountSettings, defineConfig, defineService, serverSettings } from "@fetchwork/service";
import { z } from "zod";
import { article, articleOptions, type Handle, routeOf, twins } from "./other-hand.ts";
import { type Seeded, serviceOf, user } from "./seeded.ts";

const articleRoutes = resourceRoutes(article);

/** Faults by which accounts are read, changed and taken over. */
export const accountFaults: readonly Seeded[] = [
  {
    name: "users whose email is open to users",
    opened: "user.email user",
    ...twins((isRepaired) => {
      const fields = isRepaired ? {} : { email: { read: "user" as const } };
      return defineService({
        name: "seeded",
        config: defineConfig({ ...serverSettings, ...accountSettings }),
        accounts: accounts({ user: defineUser({ fields }) }),
        resources: [articleRoutes],
      });
    }),
  },
  {
    name: "a list of members without their password, and with all the rest",
    expected: { code: "field-read", resource: "user", field: "sessionVersion", way: "listMembers" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf({ path: "/members", operation: "listMembers" }, async ({ store }) => {
          const members = await store.collection(user.collection).find();
          return json(
            members.map(({ email: _email, passwordHash: _hash, ...rest }) =>
              isRepaired ? { id: rest.id, name: rest.name } : rest,
            ),
          );
        }),
      ),
    ),
  },
  {
    name: "a hook that shows the email of the author",
    expected: { code: "field-read", resource: "user", field: "email", way: "show" },
    ...twins((isRepaired) => {
      const signed = defineResource({
        ...articleOptions,
        hooks: {
          async afterShow({ call, document, shown }) {
            const author = String(Reflect.get(document, "author"));
            const writer = await call.store.collection(user.collection).get(author);
            return { ...shown, contact: isRepaired ? writer?.name : writer?.email };
          },
        },
      });
      return serviceOf(resourceRoutes(signed));
    }),
  },
  {
    name: "a profile by which users set their role",
    expected: { code: "field-written", resource: "user", field: "role", way: "changeProfile" },
    ...ofProfile("PATCH", "/profile", "changeProfile", async (call, isRepaired) => {
      const { name } = call.body as { readonly name?: unknown };
      const fields = isRepaired ? (typeof name === "string" ? { name } : {}) : call.body;
      await call.store.collection(user.collection).update(call.user?.id ?? "", fields);
      return empty();
    }),
  },
  {
    name: "a nickname that users set for others",
    expected: { code: "document-written", resource: "user", caller: "user", way: "setNickname" },
    ...ofProfile("PUT", "/users/:id/nickname", "setNickname", async (call, isRepaired) => {
      const id = call.params["id"] ?? "";
      if (isRepaired && id !== call.user?.id) throw forbidden();
      const changed = await call.store.collection(user.collection).update(id, { name: "Nick" });
      if (!changed) throw notFound();
      return empty();
    }),
  },
  {
    name: "a GET that changes an article, also by a key that may only read",
    expected: { code: "document-written", resource: "article", caller: "key", way: "touchArticle" },
    ...twins((isRepaired) =>
      serviceOf(
        articleRoutes,
        routeOf(
          {
            method: isRepaired ? "POST" : "GET",
            path: "/articles/:id/touch",
            operation: "touchArticle",
          },
          async ({ params, store, user: caller }) => {
            const all = store.collection(article.collection);
            const found = await all.get(params["id"] ?? "");
            if (!found) throw notFound();
            if (found.author !== caller?.id) throw forbidden();
            await all.update(found.id, { content: "touched" });
            return empty();
          },
        ),
      ),
    ),
  },
  {
    name: "an invitation that tells who has an account",
    expected: { code: "field-inferred", resource: "user", field: "email", way: "invite" },
    ...ofProfile("POST", "/invitations", "invite", async ({ body, store }, isRepaired) => {
      const { email } = z.object({ email: z.string().catch("") }).parse(body);
      const count = await store.collection(user.collection).count({ where: { email } });
      if (!isRepaired && count > 0) throw new Problem(409, { detail: "has an account" });
      return empty();
    }),
  },
  {
    name: "an email that is changed without a proof",
    expected: { code: "field-written", resource: "user", field: "email", way: "moveEmail" },
    ...ofProfile("POST", "/my-email", "moveEmail", async (call, isRepaired) => {
      const { email } = z.object({ email: z.email().optional().catch(undefined) }).parse(call.body);
      if (email === undefined) throw new Problem(400);
      if (isRepaired) throw forbidden();
      await call.store.collection(user.collection).update(call.user?.id ?? "", { email });
      return empty();
    }),
  },
];

function ofProfile(
  method: "PATCH" | "POST" | "PUT",
  path: string,
  operation: string,
  handle: (call: Parameters<Handle>[0], isRepaired: boolean) => Promise<Response>,
): Pick<Seeded, "faulty" | "repaired"> {
  return twins((isRepaired) =>
    serviceOf(
      articleRoutes,
      routeOf({ method, path, operation }, (call) => handle(call, isRepaired)),
    ),
  );
}
