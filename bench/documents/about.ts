import type { About } from "../report/about.ts";

const TAGS = ["SQLite, tags and sums", "PostgreSQL, tags and sums"];
const IN_MEMORY = ["nedb", "lokijs"];
const WORKS = [
  "bulk load",
  "get by id",
  "list",
  "page 1",
  "deep page",
  "search",
  "insert, 1 writer",
  "insert, 64 writers",
];

export const about: About = {
  part: "documents",
  title: "Documents",
  minutes: 25,
  targets: [
    {
      text: "On SQLite a get and a list cost at most 1.3 times bare `node:sqlite`",
      where: { groups: ["SQLite"], works: ["get by id", "list"], rows: ["node-sqlite"] },
      of: "ratio",
      atMost: 1.3,
    },
    {
      text: "On PostgreSQL everything costs at most 1.2 times bare `pg`",
      where: { groups: ["PostgreSQL"], works: WORKS, rows: ["pg"] },
      of: "ratio",
      atMost: 1.2,
    },
    {
      text: "A deep page costs at most 1.5 times the first one",
      where: { groups: ["SQLite, pages", "PostgreSQL, pages"], rows: ["page 1"] },
      of: "ratio",
      atMost: 1.5,
    },
    {
      text: "64 writers on SQLite take at most a tenth of the time of a transaction for each",
      where: {
        groups: ["Durable inserts of 64 writers"],
        rows: ["node-sqlite, a transaction each"],
      },
      of: "ratio",
      atMost: 0.1,
    },
  ],
  overview: { groups: ["SQLite", "PostgreSQL", ...TAGS] },
  explanations: [
    {
      where: { rows: IN_MEMORY, units: ["CPU µs"] },
      text:
        "They hold everything in memory, and do not wait for the disk: faster by id, at a page behind a known rank, and at " +
        "inserts that nobody waits for. lokijs answers with its own objects, not with copies.",
    },
    {
      where: { groups: TAGS, works: ["page by a rare tag", "page by a common tag"] },
      text:
        "Nobody says how frequent a tag is. So ours first counts the documents that have it, or looks at a sample. Then it " +
        "reads these documents, or takes those of the collection in the order of the page.",
    },
    {
      where: { groups: TAGS, works: ["sums"] },
      text:
        "Numbers are checked to be numbers. They are added as decimal ones, so that a sum is the same on every engine. " +
        "PostgreSQL's own CPU time is not in these figures.",
    },
    {
      where: { groups: TAGS, works: ["increment, 1 writer", "insert, 1 writer"] },
      text:
        "An increment reads the document, checks what is there, and writes it in a transaction, whose statements PostgreSQL " +
        "answers one by one; the peers run one statement, and PGlite and those in memory do not wait for the disk.",
    },
    {
      where: { rows: ["pouchdb", "pglite"], works: ["insert, 1 writer", "insert, 64 writers"] },
      text: "pouchdb leaves the disk to the system, and PGlite runs with `fsync=off`: inserts wait for nothing.",
    },
    {
      where: {
        groups: ["SQLite"],
        works: ["bulk load", "insert, 1 writer"],
        rows: ["node-sqlite"],
      },
      text: "Each document is checked, copied and given its metadata, and passes a queue that shares commits.",
    },
    {
      where: { works: ["search"], rows: ["node-sqlite", "pg"] },
      text:
        "A search first asks how many documents have the word, and takes documents in their order where many have it: so a " +
        "word that all have costs no more than one that few have. The peers read all that have it, here 20.",
    },
    {
      where: {
        rows: ["node-sqlite"],
        works: ["get by id", "list", "page 1", "deep page", "search"],
        units: ["CPU µs"],
      },
      text:
        "Each query is checked, and each document gets its metadata. Where no index keeps a read short, the rows that it " +
        "looks at are counted. So a long read goes on in another thread.",
    },
    {
      where: { groups: ["Durable inserts of 64 writers"] },
      text:
        "Sharing a transaction saves the wait for the disk and nothing else. With a search index most of an insert is the " +
        "work of SQLite's trigram index. Bare `node:sqlite` with 64 in a transaction shows how little is left to gain.",
    },
    {
      where: { groups: ["PostgreSQL"], rows: ["pg", "pongo"], units: ["CPU µs"] },
      text:
        "Bare `pg` has the same prepared statements, indexes and `JSON.parse`. Ours also checks each query, limits the time " +
        "of each statement, and adds metadata to documents; loading checks and copies each of them.",
    },
  ],
};
