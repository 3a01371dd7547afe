import type { About } from "../report/about.ts";

export const about: About = {
  part: "agent-repositories",
  title: "Agent: one line of ten repositories",
  minutes: 15,
  targets: [
    {
      text: "A change of one line in a repository that nobody prepared exits 0",
      where: { units: ["code"] },
      of: "value",
      atMost: 0,
    },
    {
      text: "It makes no fault that was not there before",
      where: { units: ["new faults"] },
      of: "value",
      atMost: 0,
    },
    {
      text: "It takes at most 3 s of CPU time, from the sources of the command",
      where: { units: ["CPU s"] },
      of: "value",
      atMost: 3,
    },
    {
      text: "It takes at most 8,000 tokens, as the run counts them",
      where: { units: ["tokens"] },
      of: "value",
      atMost: 8_000,
    },
    {
      text: "It takes at most 8,000 tokens with the descriptions of tools and their calls",
      where: { units: ["tokens with tools"] },
      of: "value",
      atMost: 8_000,
    },
  ],
  explanations: [],
};
