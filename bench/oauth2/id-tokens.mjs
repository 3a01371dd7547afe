// Measures the validation of ID tokens against oauth4webapi and openid-client: signature with keys that are at hand,
// and claims. Each in a process of its own, in another order each round; medians, and ratios round by round.
//
//   npm run oauth2:id-tokens -- [rounds]
import { execFileSync } from "node:child_process";
import os from "node:os";
import path from "node:path";

const rounds = Number(process.argv[2] ?? 9);
const libraries = ["fetchwork", "oauth4webapi", "openid-client"];
const worker = path.join(import.meta.dirname, "id-token.mjs");

console.log(
  `Node ${process.version}, ${os.cpus()[0].model}, ${os.cpus().length} cores; ${rounds} rounds\n`,
);
console.log(
  "| ID tokens | library | validations per CPU second | CPU µs each | ours / theirs (spread) |",
);
console.log("| --- | --- | ---: | ---: | ---: |");
for (const algorithm of ["RS256", "ES256", "Ed25519"]) compare(algorithm);

function compare(algorithm) {
  const times = new Map(libraries.map((library) => [library, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % libraries.length;
    for (const library of [...libraries.slice(first), ...libraries.slice(0, first)]) {
      const script = ["--conditions=@fetchwork/source", worker, library, algorithm, "10000"];
      const output = execFileSync(process.execPath, script, { encoding: "utf8" });
      times.get(library).push(Number(output));
    }
  }
  const ours = times.get("fetchwork");
  for (const [library, theirs] of times) {
    const each = median(theirs);
    const ratios = ours.map((time, round) => time / theirs[round]);
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) =>
      ratio.toFixed(2),
    );
    const ratio =
      library === "fetchwork" ? "" : `${median(ratios).toFixed(2)} (${least} to ${most})`;
    console.log(
      `| ${algorithm} | ${library} | ${Math.round(1e6 / each)} | ${each.toFixed(1)} | ${ratio} |`,
    );
  }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
