// @fetchwork/documents/jobs on either engine.
import { openStore } from "../../../packages/documents/src/index.ts";
import {
  createJobs,
  defineJob,
  jobCollections,
} from "../../../packages/documents/src/jobs/index.ts";

export async function open({ url, concurrency, keep }) {
  const store = await openStore(url, { collections: Object.values(jobCollections) });
  const jobs = createJobs(store, { onError: console.error });
  const job = defineJob("measured", { concurrency, keep });
  return {
    add: (input) => jobs.add(job, input),
    work(handler) {
      const worker = jobs.work(job, handler);
      return () => worker.stop();
    },
    // Each job ends in the store after its handler.
    isEmpty: async () => (await jobs.list({ state: "waiting", limit: 1 })).items.length === 0,
    async close() {
      await jobs.close();
      await store.close();
    },
  };
}
