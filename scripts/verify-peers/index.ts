// Sends the matrix of `fetchwork verify` by HTTP to demo applications of other frameworks:
//   docs/verify/peers.md. npm run verify:peers -- [names of peers] Exit codes: 0 all named peers
//   were tried, whatever was found; 1 one did not start; 2 wrong arguments.
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runMatrix } from "./matrix.ts";
import { feathersChat } from "./peers/feathers-chat.ts";
import { fetchworkBlog } from "./peers/fetchwork-blog.ts";
import { strapiBlog } from "./peers/strapi-blog.ts";
import { findingsTable, matrixTable } from "./report.ts";

const peers = [strapiBlog, feathersChat, fetchworkBlog];
const names = process.argv.slice(2);
const unknown = names.find((name) => peers.every((peer) => peer.name !== name));
if (unknown !== undefined) {
  console.error(
    `unknown peer "${unknown}": expected one of ${peers.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}
let code = 0;
for (const peer of peers.filter(({ name }) => names.length === 0 || names.includes(name))) {
  // Not in this repository, whose Node npm would find in node_modules/.bin.
  const folder = join(tmpdir(), "verify-peers", peer.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    const running = await peer.start(folder);
    try {
      const report = await runMatrix(running.api);
      console.log(`\n## ${running.version}\n`);
      console.log(`${report.requests} requests, ${report.findings.length} findings\n`);
      console.log(`${matrixTable(report)}\n\n${findingsTable(report.findings)}`);
    } finally {
      await running.stop();
    }
  } catch (error) {
    code = 1;
    console.error(`${peer.name}:`, error);
  }
}
process.exit(code);
