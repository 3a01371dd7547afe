// graphile-worker with its local queue and its batches of ends.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

export async function open({ url, concurrency, isIdle }) {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on("error", console.error);
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  const batches = { localQueue: { size: 200 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  return {
    add: (input) => utils.addJob("measured", { input }),
    async work(handler) {
      const runner = await run({
        pgPool: pool,
        logger,
        noHandleSignals: true,
        concurrency,
        taskList: { measured: ({ input }) => handler(input) },
        preset: { worker: { concurrentJobs: concurrency, ...(isIdle ? {} : batches) } },
      });
      return () => runner.stop();
    },
    async isEmpty() {
      const { rows } = await pool.query("SELECT 1 FROM graphile_worker.jobs LIMIT 1");
      return rows.length === 0;
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}
