import type { About } from "../report/about.ts";

const SMALL = "Over loopback: ten layers, 150 bytes of JSON";
const LARGE = "Over loopback: gzip of 100 KiB of JSON";
const LAYERS = "In memory, layers of `ping`";

export const about: About = {
  part: "middleware",
  title: "Middleware",
  minutes: 10,
  targets: [
    {
      text: "Ten layers in memory take at most 5 µs",
      where: { groups: ["In memory: ten layers"], rows: ["fetchwork"] },
      of: "value",
      atMost: 5,
    },
    {
      text: "Ten layers in memory cost at most half of what Hono's nearest do",
      where: { groups: ["In memory: ten layers"] },
      of: "ratio",
      atMost: 0.5,
    },
    {
      text: "Ten layers over loopback cost at most 0.8 of the best peer",
      where: { groups: [SMALL] },
      of: "ratio",
      atMost: 0.8,
    },
    {
      text: "gzip of 100 KiB costs at most what `compression` does",
      where: { groups: [LARGE], rows: ["express"] },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "Each added layer costs at most 0.3 µs",
      where: { groups: [LAYERS], works: ["each layer"], rows: ["fetchwork"] },
      of: "value",
      atMost: 0.3,
    },
  ],
  overview: { groups: ["In memory: ten layers", SMALL, LARGE] },
  explanations: [
    {
      where: { groups: [LARGE] },
      text: "gzip itself is nine tenths of the CPU time, and the same zlib for all.",
    },
  ],
};
