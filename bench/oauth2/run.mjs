// Measures @fetchwork/oauth2 against openid-client, oauth4webapi and simple-oauth2 on a loopback token server.
//
//   npm run oauth2 -- [rounds]          (after `npm run build` in the root; it measures packages/oauth2/dist)
//
// The server is a process of its own, and so is every client: none collects the garbage of another. Each round runs every
// client in turn, 2000 requests each, beginning with another one each time, and every other round backwards; the first
// rounds warm up. The tables have medians over the rounds, and ratios of CPU time, ours to theirs, round by round: median,
// and quartiles. With "30 s" a peer gives up after the time that ours and openid-client have by default; without, never.
// Every client authenticates with Basic, parses JSON and keeps its connections; 16 requests are under way
// at a time.
import { fork } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "../../node_modules/rolldown/dist/index.mjs";

const rounds = Number(process.argv[2] ?? 30);
const warmUp = 8;
const root = resolve(import.meta.dirname, "../..");

const server = fork(resolve(import.meta.dirname, "server.mjs"));
const [port] = await once(server, "message");
const origin = `http://127.0.0.1:${port}`;

const quantile = (numbers, at) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * at)];
const median = (numbers) => quantile(numbers, 0.5);

async function measure(process) {
  process.send("go");
  const [time] = await once(process, "message");
  return time;
}

async function compare(title, table, names) {
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const clients = names.map((name) =>
    fork(`${import.meta.dirname}/client.mjs`, [origin, table, name]),
  );
  for (let round = -warmUp; round < rounds; round += 1) {
    const order = names.map((_, index) => (index + round + warmUp) % names.length);
    if (round % 2 === 0) order.reverse();
    for (const index of order) {
      const time = await measure(clients[index]);
      if (round >= 0) times[names[index]].push(time);
    }
  }
  for (const client of clients) client.disconnect();
  const [first] = names;
  console.log(`\n| ${title} | CPU µs/request | requests/CPU s | ours / theirs (quartiles) |`);
  console.log("| --- | ---: | ---: | ---: |");
  for (const name of names) {
    const ratios = times[first].map((time, round) => time / times[name][round]);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((at) => quantile(ratios, at).toFixed(2));
    const spread = `${middle} (${low} to ${high})`;
    const time = median(times[name]);
    console.log(
      `| ${name} | ${time.toFixed(0)} | ${(1e6 / time).toFixed(0)} | ${name === first ? "" : spread} |`,
    );
  }
}

async function bundleSize(code, cwd) {
  const entry = "\0entry";
  const bundle = await rolldown({
    input: entry,
    cwd,
    platform: "browser",
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? code : undefined),
      },
    ],
    external: /^node:/,
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const size = (chunk) => [chunk.code.length, gzipSync(chunk.code).length];
  const first = output.find((chunk) => chunk.isEntry);
  const all = output.filter((chunk) => chunk.type === "chunk").map(size);
  const sum = (index) => all.reduce((total, sizes) => total + sizes[index], 0);
  return { first: size(first), all: [sum(0), sum(1)] };
}

console.log(`Node ${process.version}, ${os.cpus()[0].model}, ${os.availableParallelism()} cores`);
console.log(`2000 requests, 16 at a time, ${rounds} rounds, medians`);
await compare("client credentials", "tokenRequests", [
  "@fetchwork/oauth2",
  "@fetchwork/oauth2, timeout: 0",
  "oauth4webapi",
  "oauth4webapi, 30 s",
  "openid-client",
  "simple-oauth2",
  "simple-oauth2, 30 s",
  "bare fetch",
  "bare fetch, 30 s",
]);
await compare("request with a valid token", "authorizedRequests", [
  "@fetchwork/oauth2, authorizedFetch",
  "@fetchwork/oauth2, token.get",
  "oauth4webapi",
  "openid-client",
  "bare fetch",
]);

const dist = `${root}/packages/oauth2/dist`;
const bench = resolve(import.meta.dirname, "..");
const bundles = {
  "@fetchwork/oauth2, `OAuth2Client`": `export { OAuth2Client } from "${dist}/index.js"`,
  "@fetchwork/oauth2, all": `export * from "${dist}/index.js"`,
  "@fetchwork/oauth2 and ./oidc, all": `export * from "${dist}/index.js"; export * from "${dist}/oidc/index.js"`,
  oauth4webapi: 'export * from "oauth4webapi"',
  "openid-client": 'export * from "openid-client"',
};
console.log("\n| bundle | minified | gzip | gzip with what is loaded later (jose) |");
console.log("| --- | ---: | ---: | ---: |");
for (const [name, code] of Object.entries(bundles)) {
  const { first, all } = await bundleSize(code, bench);
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  console.log(`| ${name} | ${kb(first[0])} | ${kb(first[1])} | ${kb(all[1])} |`);
}
server.disconnect();
