import { json } from "@fetchwork/http";
import { defineResource, defineRoute, resourceRoutes } from "@fetchwork/rest";
import { z } from "zod";
import { about, serviceOf, staffOptions, user } from "./seeded.ts";

const schema = z.object({ name: z.string(), salary: z.number() });
const staff = defineResource({ ...staffOptions, schema });

/** A route that says whether a value of a field belongs to anybody. */
export function people(field: string) {
  const query = [{ name: "who", description: "Who", schema: { type: "string" } }] as const;
  const route = defineRoute({
    ...about,
    method: "GET",
    path: "/people",
    operation: "findPeople",
    access: "public",
    responses: { 200: { description: "Done" } },
    query,
    async handle({ query: given, store }) {
      const users = store.collection(user.collection);
      const count = await users.count({ where: { [field]: given.get("who") ?? "" } });
      return json({ isKnown: count > 0 });
    },
  });
  return serviceOf(resourceRoutes(staff), route);
}
