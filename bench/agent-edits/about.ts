import type { About } from "../report/about.ts";

const where = (works: readonly string[]): About["targets"][number]["where"] => ({
  groups: ["All 500 edits"],
  works,
  rows: ["fetchwork"],
});

export const about: About = {
  part: "agent-edits",
  title: "Agent: edits applied or refused",
  minutes: 5,
  targets: [
    {
      text: "Of 500 edits the agent applies none wrongly",
      where: where(["applied wrongly"]),
      of: "value",
      atMost: 0,
    },
    {
      text: "Of 500 edits the agent refuses none wrongly",
      where: where(["refused wrongly"]),
      of: "value",
      atMost: 0,
    },
  ],
  explanations: [],
};
