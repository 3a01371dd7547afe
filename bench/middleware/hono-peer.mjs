import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { body, isLarge, type } from "./body.mjs";
import { honoApp } from "./layers.mjs";

const answer = (c) => c.body(body, 200, { "content-type": type });
const hasEtag = process.env.ETAG !== "off";
const app = isLarge ? new Hono().use(compress()).get("*", answer) : honoApp(answer, { hasEtag });
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
