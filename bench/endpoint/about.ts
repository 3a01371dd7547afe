import type { About } from "../report/about.ts";

const ROUTES = ["no parameters", "path", "query", "body", "template query", "defaults"];

export const about: About = {
  part: "endpoint",
  title: "Request options",
  flags: ["--expose-gc"],
  minutes: 8,
  targets: [
    {
      text: "`endpoint()` takes at most a fifth of @octokit/endpoint on six routes",
      where: { groups: ["`endpoint()`"], works: ROUTES },
      of: "ratio",
      atMost: 0.2,
    },
    {
      text: "`expand()` is faster than the other libraries",
      where: { groups: ["`expand()`"], rows: ["url-template", "uri-template", "uritemplate"] },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "200 literal routes are type-checked within 1 s",
      where: { groups: ["Type check"] },
      of: "value",
      atMost: 1,
    },
  ],
  explanations: [
    {
      where: { groups: ["`expand()`"] },
      text: "Where the parse step is done beforehand both only join parts; ours looks the template up in its cache too.",
    },
  ],
};
