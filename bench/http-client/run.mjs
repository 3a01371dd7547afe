// Measures `send` against undici.request, got, axios, ky, ofetch and the built-in fetch.
//
// npm run http-client -- [rounds] [requests per round] [clients, as in "fetchwork,undici.request"]
//
// Every client runs in a separate process, the server in another one. Each round asks every
// client in turn for the same work over 50 connections, and takes that client's CPU time (user and
// system).
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";

const part = new Part("http-client");
const [amountText, peersText] = part.settings.others;
const amount = Number(amountText ?? 5_000);
const here = import.meta.dirname;
const all = ["fetchwork", "undici.request", "got", "axios", "ky", "ofetch", "fetch"];
const names = peersText?.split(",") ?? all;
const works = { get: "GET, 1 KiB of JSON", post: "POST, 10 KiB" };
part.uses("undici", "got", "axios", "ky", "ofetch");

const children = [];
try {
  const server = start("server.mjs", []);
  const [port] = await once(server, "message");
  const clients = new Map();
  for (const name of names) {
    const child = start("client.mjs", [name, `http://127.0.0.1:${port}/items`]);
    await once(child, "message");
    clients.set(name, child);
  }
  for (const [work, title] of Object.entries(works)) {
    const measure = async (name) => {
      const child = clients.get(name);
      child.send({ work, amount });
      const [{ cpu, rate }] = await once(child, "message");
      return { value: cpu, rate };
    };
    const name = { group: "50 connections", work: title, unit: "CPU µs" };
    await part.compare(name, { names, measure, seconds: 60, warmUp: 2, least: 7 });
  }
} finally {
  for (const child of children) child.disconnect();
}
part.close();

function start(script, args) {
  const execArgv = ["--conditions=@fetchwork/source"];
  const child = endWithUs(fork(path.join(here, script), args, { execArgv }));
  child.once("exit", (code) => {
    if (code === 0) return;
    console.error(`${script} ${args[0] ?? ""} ended with ${code}`);
    process.exit(1);
  });
  children.push(child);
  return child;
}
