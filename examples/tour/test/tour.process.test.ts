import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { notes, notesTranscript, writeTranscript } from "./write-transcript.ts";

interface Run {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  /** What it has left in its folder for temporary files. */
  readonly left: readonly string[];
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tour-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the program to its end, or until a signal that it gets after a line. */
async function run(
  transcript = "",
  interruption?: { readonly signal: NodeJS.Signals; readonly after: string },
): Promise<Run> {
  const temporary = join(newFolder(), "tmp");
  mkdirSync(temporary);
  const child = spawn(
    process.execPath,
    ["--conditions=@fetchwork/source", join(import.meta.dirname, "../src/index.ts")],
    {
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        TMPDIR: temporary,
        TOUR_TRANSCRIPT: transcript,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  if (interruption !== undefined) {
    createInterface(child.stdout).on("line", (line) => {
      if (line.includes(interruption.after)) child.kill(interruption.signal);
    });
  }
  const code = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const linesOf = (all: string): readonly string[] => all.split("\n").slice(0, -1);
  return {
    code: await code,
    lines: linesOf(output),
    errors: linesOf(errors),
    left: readdirSync(temporary),
  };
}

/** A transcript in which the agent describes another resource. */
async function transcriptOf(resource: string): Promise<string> {
  const file = join(newFolder(), "other.ndjson");
  await writeTranscript(file, resource);
  return file;
}

it("the tour goes through all steps, and leaves nothing", { timeout: 60_000 }, async () => {
  const { code, lines, errors, left } = await run();
  expect([code, errors, left]).toEqual([0, [], []]);
  expect(lines.slice(0, -1).map((line) => line.replace(/^ *\d+ ms {2}/, "- "))).toEqual([
    "- an OpenID provider starts",
    "- the blog starts on a new database",
    "- Ada signs in at the blog with the provider, through every redirect",
    "- the token client gets an access token: code and PKCE",
    "- the blog takes the provider's access token for Ada's",
    "- an admin subscribes a receiver of webhooks",
    "- the receiver refuses what nobody has signed",
    "- Ada writes two articles",
    "- anybody finds them by a word",
    "- conditional GET: 304 for what is here already",
    "- compression: Content-Encoding gzip, less than half of the bytes",
    "- CORS: the preflight of another origin is answered",
    "- Ada changes a title with If-Match; the old version is refused with 412",
    "- Ada removes the article",
    "- rate limit: 429 and Retry-After for one sign-in too many",
    "- the agent describes a resource (replayed: scripted by a person, no model)",
    "- `fetchwork new` makes a project",
    "- `fetchwork add` adds the resource to it",
    "- the project starts",
    "- its API creates, finds and removes a note, and refuses a wrong one",
    "- all changes came as webhooks, the first one at its second try",
  ]);
  expect(lines.at(-1)).toMatch(/^the tour ended well after [\d.]+ s$/);
});

it.each([
  [
    "a resource that has not what is sent",
    notes.replace("text:string!", "body:string!"),
    /^surprise at "its API creates, .*": .*400/,
  ],
  [
    "a field that the command refuses",
    notes.replace("pinned:boolean", "id:boolean"),
    /^surprise at "`fetchwork add` adds the resource to it": .*the name id is reserved/,
  ],
  [
    "a description without fields",
    '{ "name": "note" }\n',
    /^surprise at "the agent describes .*": the resource has no fields$/,
  ],
])(
  "the tour exits 1 at the first surprise: %s",
  { timeout: 30_000 },
  async (_, resource, message) => {
    const { code, lines, errors, left } = await run(await transcriptOf(resource));
    expect([code, left]).toEqual([1, []]);
    expect(errors).toEqual([expect.stringMatching(message)]);
    expect(lines.join("\n")).toContain("rate limit: 429");
    expect(lines.join("\n")).not.toMatch(/refuses a wrong one|webhooks, the first|ended well/);
  },
);

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "the tour leaves nothing when %s ends it",
  { timeout: 30_000 },
  async (signal, wanted) => {
    const { code, lines, left } = await run("", { signal, after: "the project starts" });
    expect([code, left]).toEqual([wanted, []]);
    expect(lines.at(-1)).not.toMatch(/ended well/);
  },
);

it("the tour exits 1 for a transcript that does not say that a person wrote it", async () => {
  const file = join(newFolder(), "recorded.ndjson");
  const whole = readFileSync(notesTranscript, "utf8");
  writeFileSync(file, whole.replace('"source":"scripted"', '"source":"recorded"'));
  const { code, errors } = await run(file);
  expect(code).toBe(1);
  expect(errors).toEqual([expect.stringMatching(/^surprise at "the agent describes .*recorded/)]);
});

it("the tour has a transcript that is what its script writes", async () => {
  const anew = await transcriptOf(notes);
  expect(readFileSync(anew, "utf8")).toBe(readFileSync(notesTranscript, "utf8"));
});
