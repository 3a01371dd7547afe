// Measures @fetchwork/oauth2 against openid-client, oauth4webapi and simple-oauth2 on a loopback
// token server.
//
//   npm run oauth2 -- [rounds]          (after `npm run build` in the root; it measures packages/oauth2/dist)
//
// The server is a separate process, and so is every client: none collects the garbage of another.
// Each round runs every client in turn, 2000 requests each; eight rounds warm up. With "30 s" a
// peer gives up after the time that ours and openid-client have by default; without, never. Every
// client authenticates with Basic, parses JSON and keeps its connections; 16 requests are under way
// at a time.
import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";
import { rolldown } from "../../node_modules/rolldown/dist/index.mjs";

const part = new Part("oauth2");
part.uses("oauth4webapi", "openid-client", "simple-oauth2");
const root = resolve(import.meta.dirname, "../..");

const server = endWithUs(fork(resolve(import.meta.dirname, "server.mjs")));
const [port] = await once(server, "message");
const origin = `http://127.0.0.1:${port}`;

async function compare(work, { table, names, own, seconds }) {
  const start = (name) => fork(`${import.meta.dirname}/client.mjs`, [origin, table, name]);
  const clients = new Map(names.map((name) => [name, endWithUs(start(name))]));
  const measure = async (name) => {
    const client = clients.get(name);
    client.send("go");
    const [value] = await once(client, "message");
    return { value };
  };
  const name = { group: work, work: "each request", unit: "CPU µs", own };
  const warmUp = part.settings.isQuick ? 4 : 8;
  await part.attempt(work, () => part.compare(name, { names, measure, seconds, warmUp, least: 9 }));
  for (const client of clients.values()) client.disconnect();
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

await compare("Client credentials", {
  table: "tokenRequests",
  seconds: 60,
  own: ["@fetchwork/oauth2", "@fetchwork/oauth2, timeout: 0"],
  names: [
    "@fetchwork/oauth2",
    "@fetchwork/oauth2, timeout: 0",
    "oauth4webapi",
    "oauth4webapi, 30 s",
    "openid-client",
    "simple-oauth2",
    "simple-oauth2, 30 s",
    "bare fetch",
    "bare fetch, 30 s",
  ],
});
await compare("Request with a valid token", {
  table: "authorizedRequests",
  seconds: 30,
  own: ["@fetchwork/oauth2, authorizedFetch", "@fetchwork/oauth2, token.get"],
  names: [
    "@fetchwork/oauth2, authorizedFetch",
    "@fetchwork/oauth2, token.get",
    "oauth4webapi",
    "openid-client",
    "bare fetch",
  ],
});

const dist = `${root}/packages/oauth2/dist`;
const bench = resolve(import.meta.dirname, "..");
const bundles = {
  "@fetchwork/oauth2, `OAuth2Client`": `export { OAuth2Client } from "${dist}/index.js"`,
  "@fetchwork/oauth2, all": `export * from "${dist}/index.js"`,
  "@fetchwork/oauth2 and ./oidc, all": `export * from "${dist}/index.js"; export * from "${dist}/oidc/index.js"`,
  oauth4webapi: 'export * from "oauth4webapi"',
  "openid-client": 'export * from "openid-client"',
};
const sizes = {
  minified: new Map(),
  gzip: new Map(),
  "gzip, with what is loaded later": new Map(),
};
for (const [name, code] of Object.entries(bundles)) {
  const { first, all } = await bundleSize(code, bench);
  sizes.minified.set(name, [{ value: first[0] / 1000 }]);
  sizes.gzip.set(name, [{ value: first[1] / 1000 }]);
  sizes["gzip, with what is loaded later"].set(name, [{ value: all[1] / 1000 }]);
}
// The whole of ours is what the whole of the others is compared with.
const own = ["@fetchwork/oauth2 and ./oidc, all", ...Object.keys(bundles).slice(0, 2)];
for (const [work, values] of Object.entries(sizes)) {
  const ordered = new Map([own[0], ...values.keys()].map((name) => [name, values.get(name)]));
  part.add({ group: "Bundles", work, unit: "kB", own }, ordered);
}
server.disconnect();
part.close();
