// Tags with an index of the members of lists, sums and counters, next to peers: each with separate
// tables, so that the other works do not keep an index that they do not need.
import { check, endEngines, sampling, startEngines } from "./fleet.mjs";

const READ_TIME = 150;
const WRITE_TIME = 300;
const READ_WARM_UP = 8;
const READS = {
  rareTag: "page by a rare tag",
  commonTag: "page by a common tag",
  sums: "sums",
};
const WRITES = {
  increment: ["increment, 1 writer", 1],
  insert: ["insert, 1 writer", 1],
};

/** Measures engines by name in a group of the part; `settings` are those of `startEngines`. */
export async function compareTags(part, group, names, settings) {
  const engines = await startEngines(names, settings);
  await check(engines);
  for (const [work, heading] of Object.entries(READS)) {
    const task = { work, milliseconds: READ_TIME };
    await add(heading, sampling(engines, task, { seconds: 20, warmUp: READ_WARM_UP }));
  }
  for (const [work, [heading, writers]] of Object.entries(WRITES)) {
    const task = { work, milliseconds: WRITE_TIME, writers };
    await add(heading, sampling(engines, task, { seconds: 14 }));
  }
  await endEngines(engines);

  async function add(heading, interleaving) {
    const samples = await part.sample(interleaving);
    const rows = names.map((name) => [name, samples.get(name) ?? "cannot"]);
    part.add({ group, work: heading, unit: "CPU µs" }, new Map(rows));
  }
}
