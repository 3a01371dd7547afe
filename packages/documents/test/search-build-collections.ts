import { defineCollection } from "../src/index.ts";

/** A note whose fields are searched by programs of two versions. */
export interface Note {
  title: string;
  text: string;
}

/** What the earlier version searches. */
export const byTitle = defineCollection<Note>("notes", { search: ["title"] });

/** What the later version searches, which also has another index. */
export const byText = defineCollection<Note>("notes", { search: ["text"], indexes: ["title"] });

/** Number of notes from before the later version. */
export const earlyNotes = 20_000;
