import { webcrypto } from "node:crypto";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const source = join(import.meta.dirname, "../src");

/** What a bundler makes of an entry. */
async function bundle(text: string, format: "es" | "iife"): Promise<string> {
  const entry = "virtual:entry";
  const build = await rolldown({
    input: entry,
    resolve: { conditionNames: ["@fetchwork/source", "import"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? text : null),
      },
    ],
  });
  const { output } = await build.generate({ format, name: "api", minify: true, comments: false });
  await build.close();
  return output[0].code;
}

const everything = `
  export * from ${JSON.stringify(join(source, "index.ts"))};
  export * as vendors from ${JSON.stringify(join(source, "vendors/index.ts"))};
  export * as signature from ${JSON.stringify(join(source, "signature/index.ts"))};`;

it("A bundle contains what is used, and nothing else", async () => {
  const signature = JSON.stringify(join(source, "signature/index.ts"));
  const small = await bundle(`export { verify } from ${signature};`, "es");
  expect(gzipSync(small, { level: 9 }).length).toBeLessThan(2048);
  const names = JSON.stringify(join(source, "index.ts"));
  const receiver = await bundle(`export { Webhooks, createWebMiddleware } from ${names};`, "es");
  expect(receiver).not.toContain("stripe-signature");
  expect(receiver).not.toContain("httpMethod");
  expect(gzipSync(receiver, { level: 9 }).length).toBeLessThan(13_824);
});

it("A bundle runs with web standards only, with the same results", async () => {
  const globals = { Request, Response, Headers, URL, URLSearchParams, TextEncoder, TextDecoder };
  const timers = { setTimeout, clearTimeout, setInterval, clearInterval, performance };
  // The context has its own classes for bytes, which the platform's crypto must accept.
  const others = { btoa, atob, console, AbortController, crypto: webcrypto, Uint8Array, Promise };
  const context = createContext({ ...globals, ...timers, ...others });
  runInContext(await bundle(everything, "iife"), context);
  const run = (code: string): unknown => runInContext(code, context);
  expect(run("typeof process + typeof require + typeof Buffer")).toBe(
    "undefinedundefinedundefined",
  );
  const body = '{"foo":"bar"}';
  const signature = "sha256=4864d2759938a15468b5df9ade20bf161da9b4f737ea61794142f3484236bda3";
  expect(await run(`api.signature.sign("mysecret", '${body}')`)).toBe(signature);
  expect(await run(`api.signature.verify("mysecret", '${body}', "${signature}")`)).toBe(true);
  expect(await run(`api.signature.verify("other", '${body}', "${signature}")`)).toBe(false);
  const status = (secret: string): unknown =>
    run(`(async () => {
      const webhooks = new api.Webhooks({ secret: "${secret}", replay: { dropEqualBodiesFor: 1000 }, log: { warn() {} } });
      const headers = { "content-type": "application/json", "x-vendor-event": "push",
        "x-vendor-delivery": "1", "x-hub-signature-256": "${signature}" };
      const request = new Request("http://x/api/vendor/webhooks", { method: "POST", body: '${body}', headers });
      return (await api.createWebMiddleware(webhooks)(request)).status;
    })()`);
  expect(await status("mysecret")).toBe(200);
  expect(await status("other")).toBe(400);
  for (const [name, secret] of [
    ["standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["stripe", "s"],
    ["slack", "s"],
    ["hmac", "s"],
  ]) {
    const round = `(async () => {
      const scheme = api.vendors.${name}Scheme();
      const key = scheme.createKey("${secret}");
      const body = new TextEncoder().encode('${body}');
      const headers = new Headers(await key.sign({ id: "1", timestamp: Math.floor(Date.now() / 1000), body }));
      const other = await key.verify({ headers, body: new TextEncoder().encode('${body} ') });
      return [await key.verify({ headers, body }), other];
    })()`;
    expect([name, ...((await run(round)) as boolean[])]).toEqual([name, true, false]);
  }
});
