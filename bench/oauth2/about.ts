import type { About } from "../report/about.ts";

const TOKENS = "Client credentials";
const AUTHORIZED = "Request with a valid token";

export const about: About = {
  part: "oauth2",
  title: "OAuth client",
  minutes: 10,
  targets: [
    {
      text: "A token request costs at most what the best other library takes, with its defaults",
      where: { groups: [TOKENS], rows: ["oauth4webapi", "openid-client", "simple-oauth2"] },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "A request with a valid token costs at most 1.1 times the bare `fetch`",
      where: { groups: [AUTHORIZED], rows: ["bare fetch"] },
      of: "ratio",
      atMost: 1.1,
    },
    {
      text: "A request with a valid token costs at most what the best other library takes",
      where: { groups: [AUTHORIZED], rows: ["oauth4webapi", "openid-client"] },
      of: "ratio",
      atMost: 1,
    },
  ],
  explanations: [
    {
      where: {
        groups: [TOKENS],
        rows: ["oauth4webapi", "simple-oauth2", "bare fetch"],
      },
      text:
        "Those never give up waiting: the signal and the timer of the default limit are what they save. simple-oauth2 also " +
        "does without `fetch`.",
    },
    {
      where: { groups: [AUTHORIZED] },
      text: "Ours finds the token and builds the header for each request, and leaves the rest to `fetch`.",
    },
    {
      where: { groups: ["Bundles"] },
      text:
        "Everything together has more in it than either. `OAuth2Client` alone is about as big as oauth4webapi, until it " +
        "needs jose, which it loads then.",
    },
  ],
};
