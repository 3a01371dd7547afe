// The tables, as Markdown.
import os from "node:os";

export function printMachine({ total, rounds }) {
  const [cpu] = os.cpus();
  const [load] = os.loadavg();
  console.log(
    `Node ${process.version}, ${cpu?.model}, ${os.cpus().length} cores, load ${load.toFixed(0)}`,
  );
  console.log(`${total} articles, 32 connections, ${rounds} rounds`);
}

/** Ratios are ours over theirs, round by round. */
export function printWork(work, samples) {
  const own = samples.get("fetchwork");
  const all = [...samples.values()].flat();
  const hasDatabase = all.some(({ databaseCpu }) => databaseCpu !== undefined);
  const heading = `| ${work} | requests/s | CPU µs/request | ours / theirs (quartiles) |`;
  console.log(`\n${heading}${hasDatabase ? " PostgreSQL, µs | both, ours / theirs |" : ""}`);
  console.log(`| --- | ---: | ---: | ---: |${hasDatabase ? " ---: | ---: |" : ""}`);
  for (const [name, theirs] of samples) {
    const of = (key) => median(theirs.map((sample) => sample[key]));
    const cells = [name, Math.round(of("rate")), shown(of("cpu"))];
    cells.push(theirs === own || !own ? "" : spread(ratios(own, theirs, ({ cpu }) => cpu)));
    if (hasDatabase) {
      const both = ({ cpu, databaseCpu }) => cpu + databaseCpu;
      cells.push(shown(of("databaseCpu")));
      cells.push(theirs === own || !own ? "" : median(ratios(own, theirs, both)).toFixed(2));
    }
    console.log(`| ${cells.join(" | ")} |`);
  }
}

export function printStarts(samples, memory) {
  console.log(
    "\n| server | start to first answer, ms | CPU of it, ms | MiB then | MiB after all this |",
  );
  console.log("| --- | ---: | ---: | ---: | ---: |");
  for (const [name, starts] of samples) {
    const of = (key) => Math.round(median(starts.map((sample) => sample[key])));
    const cells = [name, of("startTime"), of("startCpu"), of("memory")];
    console.log(`| ${[...cells, Math.round(memory.get(name))].join(" | ")} |`);
  }
}

function ratios(own, theirs, value) {
  return theirs.map((sample, round) => value(own[round]) / value(sample));
}

function spread(values) {
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
  return `${median(values).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

function shown(microseconds) {
  return microseconds < 100 ? microseconds.toFixed(1) : String(Math.round(microseconds));
}

function median(values) {
  return quantile(values, 0.5);
}

function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)];
}
