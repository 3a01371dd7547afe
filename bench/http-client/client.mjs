// One client in a separate process: `client.mjs <name> <url>`. Does the work it is sent, and
// answers with its CPU time.
import http from "node:http";

const [, , name, url] = process.argv;
const connections = 50;
const posted = JSON.stringify({ text: "x".repeat(10_240 - 11) });
const type = { "content-type": "application/json" };

/** Each returns `{ get, post }`, which resolve to the parsed JSON of the answer. */
const makers = {
  async fetchwork() {
    const { Client } = await import("../../packages/http/src/index.ts");
    const { undiciTransport } = await import("../../packages/http/src/node/client/index.ts");
    const client = new Client({ transport: undiciTransport({ connections }) });
    const headers = type;
    return {
      get: async () => (await client.send({ method: "GET", baseUrl: url })).json(),
      post: async () =>
        (await client.send({ method: "POST", baseUrl: url, headers, body: posted })).json(),
    };
  },
  async "undici.request"() {
    const { Agent, request } = await import("undici");
    const dispatcher = new Agent({ connections });
    const options = { method: "POST", headers: type, body: posted, dispatcher };
    return {
      get: async () => (await request(url, { dispatcher })).body.json(),
      post: async () => (await request(url, options)).body.json(),
    };
  },
  async got() {
    const { default: got } = await import("got");
    const agent = { http: new http.Agent({ keepAlive: true, maxSockets: connections }) };
    const client = got.extend({ agent });
    return {
      get: () => client.get(url).json(),
      post: () => client.post(url, { headers: type, body: posted }).json(),
    };
  },
  async axios() {
    const { default: axios } = await import("axios");
    const httpAgent = new http.Agent({ keepAlive: true, maxSockets: connections });
    const client = axios.create({ httpAgent });
    return {
      get: async () => (await client.get(url)).data,
      post: async () => (await client.post(url, posted, { headers: type })).data,
    };
  },
  async ky() {
    const { default: ky } = await import("ky");
    return {
      get: () => ky.get(url).json(),
      post: () => ky.post(url, { headers: type, body: posted }).json(),
    };
  },
  async ofetch() {
    const { ofetch } = await import("ofetch");
    return {
      get: () => ofetch(url),
      post: () => ofetch(url, { method: "POST", headers: type, body: posted }),
    };
  },
  fetch: () => ({
    get: async () => (await fetch(url)).json(),
    post: async () => (await fetch(url, { method: "POST", headers: type, body: posted })).json(),
  }),
};

const client = await makers[name]();
process.on("message", (order) => void carryOut(order));
process.on("disconnect", () => process.exit());
process.send("ready");

async function carryOut({ work, amount }) {
  let left = amount;
  const run = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await client[work]();
      if (work === "get" ? answer.length !== 11 : answer.ok !== true)
        throw new Error("wrong answer");
    }
  };
  const before = process.cpuUsage();
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, run));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - start) / 1_000;
  process.send({ cpu: (user + system) / amount, rate: amount / seconds });
}
