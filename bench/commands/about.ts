import type { About } from "../report/about.ts";

export const about: About = {
  part: "commands",
  title: "The commands",
  minutes: 8,
  targets: [
    {
      text: "From `fetchwork new` to the first answer within 60 s, install included",
      where: { works: ["from `fetchwork new` to the first answer"] },
      of: "value",
      atMost: 60,
    },
    {
      text: "`npm run dev` serves a change within 1 s",
      where: {
        works: ["a change of a file to the first answer that shows it, while `npm run dev` runs"],
      },
      of: "value",
      atMost: 1,
    },
    {
      text: "From `fetchwork add` to a running endpoint within 2 s",
      where: {
        works: [
          "`fetchwork add` to the first answer of the new resource, while `npm run dev` runs",
        ],
      },
      of: "value",
      atMost: 2,
    },
    {
      text: "`npm run tour` ends within 20 s",
      where: { works: ["`npm run tour` in this repository, once the packages are packed"] },
      of: "value",
      atMost: 20,
    },
  ],
  explanations: [],
};
