import type { About } from "../report/about.ts";

export const about: About = {
  part: "http-client",
  title: "HTTP client",
  minutes: 10,
  targets: [
    {
      text: "`send` costs at most 1.15 times raw `undici.request`",
      where: { rows: ["undici.request"] },
      of: "ratio",
      atMost: 1.15,
    },
    {
      text: "`send` costs less than every other client",
      where: { rows: ["got", "axios", "ky", "ofetch", "fetch"] },
      of: "ratio",
      atMost: 1,
    },
  ],
  explanations: [
    {
      where: { rows: ["undici.request"] },
      text:
        "`send` uses it, and adds timeouts, limits, redirects and typed errors. In profiles of both the call that writes " +
        "to the socket takes nearly a third.",
    },
  ],
};
