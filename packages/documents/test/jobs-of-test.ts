import { defineCollection } from "../src/index.ts";
import { defineJob, jobCollections } from "../src/jobs/index.ts";

/** What the jobs leave behind; nothing keeps two of the same job from being there. */
export const effects = defineCollection<{ job: string; input: number; by: string }>("effects");

/** A job with one effect. */
export const effect = defineJob<number>("effect", { concurrency: 8 });

/** Jobs of a key, one after the other. */
export const inOrder = defineJob<{ key: string; place: number }>("in-order", {
  // Fewer than there are keys, so that every process has some.
  concurrency: 2,
  key: ({ key }) => key,
});

/** A job that stays half done for a while, and says so. */
export const slow = defineJob<number>("slow");

/** A job of a schedule: its effect has the id of the job, which has the time. */
export const scheduled = defineJob<number>("scheduled", { concurrency: 4 });

/** The collections of the test. */
export const jobsOfTest = [...Object.values(jobCollections), effects];
