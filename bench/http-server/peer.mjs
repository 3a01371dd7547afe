// One server, by the environment: SERVER listens, APP makes the response, which is the same 150
// bytes of JSON.
import { createServer } from "node:http";
import { json } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { serve as serveHono } from "@hono/node-server";
import { Hono } from "hono";

const { SERVER, APP, PORT } = process.env;
const hostname = "127.0.0.1";
const port = Number(PORT);
const value = { items: Array.from({ length: 6 }, (_, id) => ({ id, name: "article" })) };

const apps = {
  bare: () => undefined,
  Response: () => Response.json(value),
  json: () => json(value),
  hono: new Hono().get("*", (context) => context.json(value)).fetch,
};
// What node-server replaces is replaced when it listens, before the first request.
const servers = {
  "node:http": () => {
    const listener = (_request, response) => {
      const body = JSON.stringify(value);
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    };
    createServer(listener).listen(port, hostname);
  },
  fetchwork: () => serve(apps[APP], { port, hostname }),
  "fetchwork, fastResponse": () => serve(apps[APP], { port, hostname, fastResponse: true }),
  "node-server": () => serveHono({ fetch: apps[APP], port, hostname }),
  "node-server, globals kept": () =>
    serveHono({ fetch: apps[APP], port, hostname, overrideGlobalObjects: false }),
};
await servers[SERVER]();
