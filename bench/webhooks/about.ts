import type { About } from "../report/about.ts";

const BEFORE = "Before it runs";

export const about: About = {
  part: "webhooks",
  title: "Webhooks",
  flags: ["--expose-gc"],
  minutes: 10,
  targets: [
    {
      text: "A verified delivery costs at most two thirds of @octokit/webhooks",
      where: { groups: ["`verifyAndReceive`", "Sockets, verified"] },
      of: "ratio",
      atMost: 1 / 1.5,
    },
    {
      text: "A refused delivery costs at most a tenth, in the middlewares alone",
      where: {
        groups: [
          "Web middleware, impossible signature",
          "Node middleware alone, impossible signature",
        ],
      },
      of: "ratio",
      atMost: 0.1,
    },
    {
      text: "`receive` costs at most a third",
      where: { groups: ["`receive`"] },
      of: "ratio",
      atMost: 1 / 3,
    },
    {
      text: "The type check of 50 handlers takes at most a tenth",
      where: { groups: [BEFORE], works: ["type check of 50 handlers"] },
      of: "ratio",
      atMost: 0.1,
    },
  ],
  explanations: [
    {
      where: { groups: ["`verifyAndReceive`", "Sockets, verified"] },
      text: "A valid delivery costs what SHA-256 and `JSON.parse` cost, which are the same for both.",
    },
    {
      where: { groups: [BEFORE], units: ["s"] },
      text:
        "TypeScript 7 removed the price that the target was made of; most of what is left is reading GitHub's types, which " +
        "are the same.",
    },
    {
      where: { groups: [BEFORE], units: ["kB"] },
      text: "The bundle holds limits, replay protection, timeouts and the other vendors' hooks, which the other has not.",
    },
  ],
};
