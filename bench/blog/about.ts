import type { About } from "../report/about.ts";

const WORKS = ["get", "list", "search", "create", "sign-in"];

export const about: About = {
  part: "blog",
  title: "The blog API",
  minutes: 20,
  targets: [
    {
      text: "The blog costs at most what the Express one does, on SQLite",
      where: { groups: ["SQLite"], works: WORKS, rows: ["express"] },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "The blog costs at most what the Express one does, on PostgreSQL",
      where: { groups: ["PostgreSQL"], works: WORKS, rows: ["express"] },
      of: "ratio",
      atMost: 1,
    },
    ...["nest", "feathers", "strapi"].map((name) => ({
      text: `The blog costs at most a third of the one in ${name}`,
      where: { groups: ["SQLite", "PostgreSQL"], works: WORKS, rows: [name] },
      of: "ratio" as const,
      atMost: 1 / 3,
    })),
    {
      text: "The blog costs at most what json-server does",
      where: { rows: ["json-server"], works: WORKS },
      of: "ratio",
      atMost: 1,
    },
    {
      text: "The blog sends its first response within 1,000 ms",
      where: { works: ["start to first answer"], rows: ["fetchwork"] },
      of: "value",
      atMost: 1000,
    },
    {
      text: "The blog needs at most 150 MiB after all these requests",
      where: { works: ["memory after all this"], rows: ["fetchwork"] },
      of: "value",
      atMost: 150,
    },
  ],
  overview: { groups: ["SQLite", "PostgreSQL"] },
  explanations: [
    {
      where: {
        groups: ["PostgreSQL", "PostgreSQL, server and database"],
        works: ["search"],
        rows: ["express"],
      },
      text:
        "Half of the busy time of both servers goes into writes to sockets. The count of what a search finds is a statement " +
        "without a name, which PostgreSQL parses and plans each time, because the plan depends on the words.",
    },
    {
      where: {
        groups: ["PostgreSQL", "PostgreSQL, server and database"],
        works: ["list"],
        rows: ["express"],
      },
      text:
        "Half of the busy time of both servers goes into writes to sockets. Ours reads whole documents as JSON and picks the " +
        "fields that are shown, where Express selects columns.",
    },
    {
      where: { groups: ["PostgreSQL", "PostgreSQL, server and database"], works: ["sign-in"] },
      text:
        "Nearly all of it is the Argon2id hash, which is the same in all. Ours also counts attempts in the database and lets " +
        "two of an account go on at a time, against guessing; the peers limit nobody, and all requests here sign one user in.",
    },
    {
      where: { groups: ["SQLite"], works: ["sign-in"] },
      text: "Sign-in is the Argon2id hash, which is the same in all but Strapi: nobody can be cheaper who hashes as safely.",
    },
    {
      where: { groups: ["SQLite"], works: ["search"] },
      text: "Searching is mostly the work of SQLite in its index of trigrams, which is the same for all.",
    },
    {
      where: { works: ["start to first answer", "CPU of the start"] },
      text:
        "Ours starts by reading TypeScript sources. It also starts the rest of the blog, which the peers do not have: " +
        "webhooks, providers, documentation.",
    },
    {
      where: { works: ["memory after the start", "memory after all this"] },
      text: "The sources and the rest of the blog need memory too.",
    },
  ],
};
