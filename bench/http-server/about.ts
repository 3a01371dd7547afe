import type { About } from "../report/about.ts";

const HANDLER = "a Response of the platform";
const HONO = "a Hono application";

export const about: About = {
  part: "http-server",
  title: "HTTP server",
  minutes: 10,
  targets: [
    {
      text: "With `fastResponse` a handler with `new Response` costs at most 1.1 times what it costs under `@hono/node-server`",
      where: { works: [HANDLER], rows: ["node-server"] },
      of: "ratio",
      atMost: 1.1,
    },
    {
      text: "With `fastResponse` a Hono application costs at most 1.1 times what it costs under `@hono/node-server`",
      where: { works: [HONO], rows: ["node-server"] },
      of: "ratio",
      atMost: 1.1,
    },
  ],
  explanations: [
    {
      where: { works: [HANDLER], rows: ["node:http"] },
      text: "It makes no `Response` and no headers that can be changed.",
    },
    {
      where: { works: ["json()"], rows: ["node:http"] },
      text: "It makes no `Request`, no context and no headers that can be changed.",
    },
  ],
};
