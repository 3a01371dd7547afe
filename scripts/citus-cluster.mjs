// Starts a cluster of Citus on this machine, a coordinator and two workers, and prints the URL of
// the coordinator. It ends with SIGINT, SIGTERM, or when its input ends, and removes the data. It
// needs a PostgreSQL that has the extension installed: POSTGRES_BIN names the folder of its
// programs, by default the newest below /usr/lib/postgresql.
import "./require-node.cjs";
import { once } from "node:events";
import { findCitus, startCitus } from "../packages/documents/test/citus-cluster.ts";

const bin = findCitus();
if (bin === undefined) {
  console.error("Citus is not installed: no PostgreSQL here has the extension (citus.so)");
  process.exit(1);
}
const cluster = await startCitus(bin);
console.log(cluster.url);
const inputEnds = process.stdin.isTTY ? [] : [once(process.stdin.resume(), "end")];
await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), ...inputEnds]);
await cluster.stop();
process.exit(0);
