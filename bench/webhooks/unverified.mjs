// How much memory strangers can fill: a receiver in a separate process, and connections that each
// send a body of 25 MiB with a signature of the right shape, but for its last byte, and keep what
// they get.
import { fork } from "node:child_process";
import net from "node:net";
import { join } from "node:path";
import { endWithUs } from "../harness/children.ts";

const size = 26_214_400;
const head = [
  "POST /api/github/webhooks HTTP/1.1",
  "host: x",
  "content-type: application/json",
  "x-github-event: issues",
  "x-github-delivery: 1",
  `x-hub-signature-256: sha256=${"a".repeat(64)}`,
  `content-length: ${size}`,
  "\r\n",
].join("\r\n");
const piece = Buffer.alloc(65_536, 32);

/**
 * Resolves to the peak of the resident set of the receiver in MB, and how many connections were
 * refused with 503.
 */
export async function measureUnverified(connections) {
  const child = endWithUs(fork(join(import.meta.dirname, "server.mjs"), ["ours"]));
  const { port } = await said(child);
  const statuses = await Promise.all(Array.from({ length: connections }, () => fill(port)));
  child.send("memory");
  const { peak } = await said(child);
  child.disconnect();
  child.kill();
  return { peak, refused: statuses.filter((status) => status === 503).length };
}

/**
 * Sends all but the last byte of a body, and resolves to the status of the response; 0 when there
 * was none.
 */
function fill(port) {
  return new Promise((done) => {
    const socket = net.connect(port, "127.0.0.1");
    let left = size - 1;
    let status = 0;
    const write = () => {
      while (left > 0 && !socket.writableEnded) {
        const part = left < piece.length ? piece.subarray(0, left) : piece;
        left -= part.length;
        if (!socket.write(part)) return;
      }
    };
    socket.write(head);
    socket.on("connect", write);
    socket.on("drain", write);
    socket.on("data", (data) => {
      status ||= Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString("latin1"))?.[1] ?? 0);
      socket.end();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => done(status));
  });
}

function said(child) {
  return new Promise((done) => child.once("message", done));
}
