import compress from "@fastify/compress";
import cors from "@fastify/cors";
import etag from "@fastify/etag";
import helmet from "@fastify/helmet";
import Fastify from "fastify";
import { Writable } from "node:stream";
import { body, isLarge, type } from "./body.mjs";

// Its own log, to nowhere.
const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
const app = isLarge
  ? Fastify()
  : Fastify({ logger: { stream }, genReqId: () => crypto.randomUUID(), trustProxy: true });
if (!isLarge) {
  await app.register(helmet);
  await app.register(cors, { origin: ["https://example.com"] });
  if (process.env.ETAG === "off") {
    app.addHook("onSend", (_request, reply, _payload, done) => {
      reply.header("etag", '"1"').header("cache-control", "max-age=60, no-cache");
      done();
    });
  } else await app.register(etag);
  app.get("/ping", () => "pong");
  app.get("/health", () => []);
}
await app.register(compress);
app.get("/*", (_request, reply) => reply.type(type).send(body));
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
