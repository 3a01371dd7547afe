// One engine in a separate process: opens it, loads it, and then does what the parent asks for.
import { authorOf, chunksOf, commonTag, rareTagOf, sample, wordOf } from "./sample.mjs";

const { name, total, inFlight, deep, options } = JSON.parse(process.argv[2]);
const CHUNK = 1000;

const { open } = await import(`./engines/${name}.mjs`);
const engine = await open(options);
const loading = await load();
const firstPage = await engine.pageAfter?.(0);
const deepPage = await engine.pageAfter?.(deep);
let state = 1;
let added = total;

const works = {
  get: () => engine.get(random(total)),
  list: () => engine.list(authorOf(random(total / 100))),
  first: firstPage,
  deep: deepPage,
  search: engine.search && (() => engine.search(wordOf(random(total / 20)))),
  insert: () => engine.insert(sample((added += 1), total)),
  rareTag: engine.tagged && (() => engine.tagged(rareTagOf(random(total / 20)), "rare")),
  commonTag: engine.tagged && (() => engine.tagged(commonTag, "common")),
  sums: engine.sums,
  increment: engine.increment && (() => engine.increment(random(total))),
};

process.on("message", (task) => {
  void answer(task);
});
process.send(loading);

async function answer({ work, milliseconds, writers, chunks, size = CHUNK }) {
  if (work === "check") {
    process.send(await check());
  } else if (work === "end") {
    await engine.close();
    process.disconnect();
  } else if (work === "load") {
    process.send(await loadMore({ chunks, size }));
  } else {
    const run = works[work];
    process.send(run ? await measure(run, milliseconds, writers ?? inFlight) : null);
  }
}

/** Loads the documents, a thousand at a time. */
async function load() {
  global.gc();
  const before = process.memoryUsage().rss;
  let cpu = 0;
  let time = 0;
  // The chunks are made beforehand where memory allows, so that only the engine is measured.
  for (let from = 0; from < total; from += 100_000) {
    const count = Math.min(100_000, total - from);
    const chunks = chunksOf(
      Array.from({ length: count }, (_, index) => sample(from + index, total)),
      CHUNK,
    );
    const startCpu = process.cpuUsage();
    const start = performance.now();
    for (const chunk of chunks) await engine.load(chunk);
    if (from + count === total) await engine.loaded?.();
    time += performance.now() - start;
    cpu += spent(startCpu);
  }
  global.gc();
  const memory = process.memoryUsage().rss - before;
  return { cpu: cpu / total, rate: (total / time) * 1000, memory };
}

/** Loads some documents more, so many in a transaction. */
async function loadMore({ chunks, size }) {
  const more = Array.from({ length: chunks }, () =>
    Array.from({ length: size }, () => sample((added += 1), total)),
  );
  const startCpu = process.cpuUsage();
  const start = performance.now();
  for (const chunk of more) await engine.load(chunk);
  const seconds = (performance.now() - start) / 1000;
  return { cpu: spent(startCpu) / (chunks * size), rate: (chunks * size) / seconds };
}

/** Does a work again and again for a time, with a number of them under way; CPU in µs for each. */
async function measure(run, milliseconds, width) {
  let count = 0;
  const startCpu = process.cpuUsage();
  const start = performance.now();
  const end = start + milliseconds;
  const loop = async () => {
    do {
      const result = run();
      // What is not a promise needs no turn.
      if (typeof result?.then === "function") await result;
      count += 1;
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: width }, loop));
  const seconds = (performance.now() - start) / 1000;
  return { cpu: spent(startCpu) / count, rate: count / seconds };
}

/** What every engine must answer alike. */
async function check() {
  const ranks = async (answer) => (await answer)?.map(({ rank }) => rank);
  return {
    get: (await engine.get(17)).rank,
    list: await ranks(engine.list(authorOf(3))),
    first: await ranks(firstPage?.()),
    deep: await ranks(deepPage?.()),
    search: (await ranks(engine.search?.(wordOf(5))))?.toSorted((a, b) => a - b),
    rareTag: await ranks(engine.tagged?.(rareTagOf(5), "rare")),
    commonTag: await ranks(engine.tagged?.(commonTag, "common")),
    sums: byState(await engine.sums?.()),
    increment: await viewsAfter(engine.increment?.(17)),
  };
}

function byState(sums) {
  return sums
    ?.map(({ state, views }) => ({ state, views }))
    .toSorted((one, other) => (one.state < other.state ? -1 : 1));
}

/** Not every engine returns the document that it changed. */
async function viewsAfter(changing) {
  if (changing === undefined) return undefined;
  await changing;
  return (await engine.get(17)).views;
}

function spent(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function random(bound) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
}
