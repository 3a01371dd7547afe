import type { About } from "../report/about.ts";

const FILES = "24 independent files, 1 s for each answer";

export const about: About = {
  part: "agent",
  title: "Agent",
  minutes: 12,
  targets: [
    {
      text: "24 files, 8 at a time, take at most a sixth (0.167) of the time of one after another",
      where: { groups: [FILES], works: ["all files"], rows: ["one after another"] },
      of: "ratio",
      atMost: 1 / 6,
    },
    {
      text: "Our own work takes at most 5 ms of CPU for each file",
      where: { groups: [FILES], works: ["each file"], rows: ["8 at a time, answers from memory"] },
      of: "value",
      atMost: 5,
    },
  ],
  explanations: [
    {
      where: { rows: ["agent-protocol"] },
      text: "The SDK keeps tasks in memory; ours is on the disk before it answers.",
    },
  ],
};
