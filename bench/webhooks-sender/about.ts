import type { About } from "../report/about.ts";

export const about: About = {
  part: "webhooks-sender",
  title: "Webhooks: sending",
  minutes: 25,
  targets: [
    {
      text: "An event costs the same however many endpoints want other events, at most 1.2 times",
      where: { works: ["one event to one endpoint"] },
      of: "ratio",
      atMost: 1.2,
    },
    {
      text: "300 bad endpoints of 1,000 at most double the p99 of the others",
      where: { groups: ["Bad neighbours"] },
      of: "ratio",
      atMost: 2,
    },
  ],
  overview: { groups: [] },
  explanations: [
    {
      where: { groups: ["Bad neighbours"] },
      text: "The process also sends to the bad endpoints, and waits for them.",
    },
    { where: {}, text: "An index over more endpoints has another level." },
  ],
};
