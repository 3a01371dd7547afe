import type { About } from "../report/about.ts";

const PEERS = ["pg-boss", "graphile-worker", "sqlite-table"];
const TIMES = ["µs for a job"];
const ADD = ["add, 64 writers"];
const RUN = ["run, ten at a time"];
const RUN_CPU = ["running, CPU", "running, CPU of the server"];
const IDLE = ["idle queue"];

export const about: About = {
  part: "documents-jobs",
  title: "Documents: jobs",
  minutes: 12,
  targets: [
    {
      text: "A durable job is added in at most the time that the peers take",
      where: { works: ADD, units: TIMES, rows: PEERS },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "A small job runs in at most the time that the peers take",
      where: { works: RUN, units: TIMES, rows: PEERS },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "A job of an idle queue begins within 10 ms",
      where: { works: IDLE, rows: ["fetchwork"] },
      of: "value",
      atMost: 10,
    },
  ],
  explanations: [
    {
      where: { works: [...RUN, ...RUN_CPU], rows: PEERS },
      text:
        "A job is a document with a lease, a version and its history: it is claimed, and it ends only while its lease is " +
        "held. The peers move rows of a table in batches. Where a job does any work, this is little of its time.",
    },
    {
      where: { works: IDLE, rows: PEERS },
      text: "A durable job is written and claimed before its handler begins, each in a transaction.",
    },
  ],
};
