import type { About } from "../report/about.ts";

export const about: About = {
  part: "accounts",
  title: "Accounts",
  minutes: 10,
  targets: [
    {
      text: "A sign-in and a request of a user who is signed in cost at most what better-auth takes",
      where: {},
      of: "ratio",
      atMost: 1,
    },
  ],
  explanations: [],
};
