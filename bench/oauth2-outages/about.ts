import type { About } from "../report/about.ts";

export const about: About = {
  part: "oauth2-outages",
  title: "OAuth client in an outage",
  minutes: 10,
  targets: [
    {
      text: "No call fails in an outage of the token endpoint that is over after a second",
      where: { units: ["failed calls"], rows: ["@fetchwork/oauth2"] },
      of: "value",
      atMost: 0,
    },
  ],
  explanations: [],
};
