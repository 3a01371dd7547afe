import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { z } from "zod";
import { serviceOf } from "./seeded.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  access: { create: "public", remove: "public" },
});

/** A service with documents that everybody may remove. */
export const removableNotes = serviceOf(resourceRoutes(note));
