// Runs a service under load while processes are killed, disks fill and clocks jump, and compares
// its data with what it acknowledged: docs/reliability.md. npm run soak -- [--minutes 5] [--engine
// sqlite|postgres] [--seed 1] Exit codes: 0 all is as acknowledged, 1 something differs, 2 wrong
// arguments.
import { parseArgs } from "node:util";
import { noDiskReason } from "../../packages/documents/test/mount-disk.ts";
import { noPostgres } from "../../packages/documents/test/postgres-server.ts";
import { soak, type SoakOptions, type SoakResult } from "./soak.ts";
import { engines } from "./world.ts";

let options: SoakOptions;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(error.message);
  process.exit(2);
}
const { engine, minutes, seed } = options;
console.log(`soak: ${engine}, ${minutes} minutes, seed ${seed}`);
if (noDiskReason !== undefined) console.log(`skipped: full disk, since ${noDiskReason}`);
const result = await soak(options);
print(result);
const isSame = result.comparisons.every(({ differing }) => differing === 0);
if (!isSame) console.log(`\nerrors of the service:\n${result.log}`);
console.log(isSame ? "all is as acknowledged" : "DIFFERENCES");
process.exit(isSame ? 0 : 1);

function readOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "5" },
      engine: { type: "string", default: "sqlite" },
      seed: { type: "string", default: "1" },
    },
  });
  const given = engines.find((name) => name === values.engine);
  if (given === undefined) {
    throw new TypeError(`--engine must be one of ${engines.join(", ")}, got ${values.engine}`);
  }
  if (given === "postgres" && noPostgres !== undefined) throw new TypeError(noPostgres);
  const [forMinutes, withSeed] = [Number(values.minutes), Number(values.seed)];
  if (!(forMinutes > 0 && forMinutes <= 10_000)) {
    throw new TypeError(`--minutes must be above 0 and at most 10000, got ${values.minutes}`);
  }
  if (!Number.isInteger(withSeed)) {
    throw new TypeError(`--seed must be a whole number, got ${values.seed}`);
  }
  return { engine: given, minutes: forMinutes, seed: withSeed };
}

function print({ comparisons, counts, drained }: SoakResult): void {
  const names = [...counts.keys()].toSorted();
  console.log("\n| what happened | times |\n| --- | ---: |");
  for (const name of names) console.log(`| ${name} | ${counts.get(name)} |`);
  console.log(`\nno job and no delivery was left ${drained.toFixed(1)} s after the load`);
  console.log("\n| what must hold | compared | differences |\n| --- | ---: | ---: |");
  for (const { compared, differing, statement } of comparisons) {
    console.log(`| ${statement} | ${compared} | ${differing} |`);
  }
  for (const { differences, statement } of comparisons) {
    for (const difference of differences) console.log(`${statement}: ${difference}`);
  }
}
