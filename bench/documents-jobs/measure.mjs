// One queue in a separate process: argv[2] is what to measure, argv[3] the engine, argv[4] its
// URL. Reports the time and the CPU time of a job in microseconds, and for the latency the median
// in milliseconds.
import { setTimeout as wait } from "node:timers/promises";

const [, , work, engine, url] = process.argv;
const count = 2000;
const writers = 64;
const concurrency = 10;
const looks = 30;
const { open } = await import(`./engines/${engine}.mjs`);
const queue = await open({ url, concurrency, isIdle: work === "latency" });

const cpu = process.cpuUsage();
const begun = performance.now();
const reportJobs = () => {
  const { user, system } = process.cpuUsage(cpu);
  const time = performance.now() - begun;
  process.send({
    time: (time * 1000) / count,
    rate: (count * 1000) / time,
    cpu: (user + system) / count,
  });
};

if (work === "add") {
  await addAll();
  reportJobs();
} else if (work === "run") {
  const { promise, resolve } = Promise.withResolvers();
  let done = 0;
  const stop = await queue.work(() => {
    done += 1;
    if (done === count) resolve();
  });
  await promise;
  while (!(await queue.isEmpty())) await wait(1);
  reportJobs();
  await stop();
} else {
  const times = [];
  let start = 0;
  let next = () => undefined;
  const stop = await queue.work(() => {
    times.push(performance.now() - start);
    next();
  });
  await wait(1500);
  for (let look = 0; look < looks; look += 1) {
    const { promise, resolve } = Promise.withResolvers();
    next = resolve;
    start = performance.now();
    await queue.add(look);
    await promise;
    await wait(20 + Math.random() * 60);
  }
  times.sort((one, other) => one - other);
  process.send({ latency: times[looks / 2] });
  await stop();
}
await queue.close();
process.disconnect();
setTimeout(() => process.exit(0), 500).unref();

async function addAll() {
  let next = 0;
  const writer = async () => {
    while (next < count) await queue.add((next += 1));
  };
  await Promise.all(Array.from({ length: writers }, writer));
}
