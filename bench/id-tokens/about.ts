import type { About } from "../report/about.ts";

export const about: About = {
  part: "id-tokens",
  title: "ID tokens",
  minutes: 8,
  targets: [
    {
      text: "An ID token costs at most what the best other library takes to validate it",
      where: {},
      of: "ratio",
      atMost: 1,
    },
  ],
  explanations: [
    {
      where: {},
      text: "Nine tenths of it is the signature in WebCrypto, which is the same in all three.",
    },
  ],
};
