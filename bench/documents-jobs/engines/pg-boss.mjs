// pg-boss, which fetches batches; its shortest poll is half a second.
import { PgBoss } from "pg-boss";

export async function open({ url, isIdle }) {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, max: 10 });
  boss.on("error", console.error);
  await boss.start();
  await boss.createQueue("measured");
  return {
    add: (input) => boss.send("measured", { input }),
    async work(handler) {
      const options = isIdle
        ? { pollingIntervalSeconds: 0.5 }
        : {
            batchSize: 100,
            localConcurrency: 2,
            pollingIntervalSeconds: 0.5,
            burstWhenBatchFull: true,
          };
      await boss.work("measured", options, async (jobs) => {
        for (const { data } of jobs) await handler(data.input);
      });
      return () => boss.offWork("measured");
    },
    async isEmpty() {
      const { rows } = await boss
        .getDb()
        .executeSql(
          "SELECT 1 FROM pgboss.job WHERE name = 'measured' AND state < 'completed' LIMIT 1",
        );
      return rows.length === 0;
    },
    close: () => boss.stop({ graceful: false }),
  };
}
