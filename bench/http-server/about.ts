import type { About } from "../report/about.ts";

const HANDLER = "a Response of the platform";
const HONO = "a Hono application";

export const about: About = {
  part: "http-server",
  title: "HTTP server",
  minutes: 10,
  targets: [
    {
      text: "A `Response` of the platform costs at most what `@hono/node-server` needs for it",
      where: { works: [HANDLER], rows: ["node-server, globals kept"] },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "A Hono application costs at most what it does under `@hono/node-server` with the platform's classes",
      where: { works: [HONO], rows: ["node-server, globals kept"] },
      of: "ratio",
      atMost: 1,
    },
  ],
  explanations: [
    {
      where: { works: [HANDLER, HONO], rows: ["node-server"] },
      text:
        "It replaces the global `Response` and `Request` of the process with its own classes. `serve` replaces no globals; " +
        "the constructor of the platform's `Response` alone takes a third of the time, and `json()` avoids it.",
    },
    {
      where: { works: [HANDLER], rows: ["node:http"] },
      text: "It makes no `Response`; the constructor of the platform's alone takes a third of the time.",
    },
    {
      where: { works: ["json()"], rows: ["node:http"] },
      text: "It makes no `Request`, no context and no headers that can be changed.",
    },
  ],
};
