import type { About } from "../report/about.ts";

export const about: About = {
  part: "service",
  title: "The start of a bundled service",
  minutes: 5,
  targets: [
    {
      text: "The bundled blog sends its first response within 500 ms",
      where: { works: ["start to first response"], rows: ["fetchwork"] },
      of: "value",
      atMost: 500,
    },
    {
      text: "The start of the bundled blog costs at most what the one in Express does",
      where: { works: ["CPU of the start"], rows: ["express"] },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "The bundled blog needs at most 100 MiB after its start",
      where: { works: ["memory after the start"], rows: ["fetchwork"] },
      of: "value",
      atMost: 100,
    },
  ],
  explanations: [
    {
      where: { rows: ["node:http"] },
      text: "A bare server has no users, no schemas, no search and no webhooks, and loads no `fetch` of Node.",
    },
    {
      where: { rows: ["express"] },
      text:
        "The blog has the rest of a service to start, which the peer does not have: providers, passkeys, webhooks, jobs and " +
        "sixteen tables. `Request` and `Response` load the `fetch` of Node.",
    },
  ],
};
