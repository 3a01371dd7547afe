import type { About } from "../report/about.ts";

export const about: About = {
  part: "oauth2-outages",
  title: "OAuth client in an outage",
  minutes: 40,
  targets: [
    {
      text: "No call fails in an outage of the token endpoint that is over after a second",
      where: {
        units: ["failed calls"],
        groups: ["Token endpoint, of 3,000 calls"],
        rows: ["@fetchwork/oauth2"],
      },
      of: "value",
      atMost: 0,
    },
    {
      text: "No call waits for more than a second in a one-second outage of the token endpoint",
      where: {
        units: ["calls that waited for more than a second"],
        groups: ["Token endpoint, of 3,000 calls"],
        rows: ["@fetchwork/oauth2"],
      },
      of: "value",
      atMost: 0,
    },
    {
      text: "No call fails in an outage of an API that rejects every token for a second",
      where: {
        units: ["failed calls"],
        groups: ["API, of 3,000 calls"],
        rows: ["@fetchwork/oauth2"],
      },
      of: "value",
      atMost: 0,
    },
    {
      text: "An API that rejects every token for a second costs at most two token requests",
      where: {
        units: ["token requests"],
        groups: ["API, of 3,000 calls"],
        rows: ["@fetchwork/oauth2"],
      },
      of: "value",
      atMost: 2,
    },
  ],
  explanations: [],
};
