import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineResource, type Resource } from "@fetchwork/rest";
import { z } from "zod";
import { greeting, type Greeted } from "../../src/greeting/greeting.ts";

const masterKey = "a1".repeat(24);
const environmentFile = {
  path: "/work/api/.env",
  text: `# Keys\nMASTER_KEY=${masterKey}\nPORT=1\n`,
};
const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string().min(1),
    stars: z.int().min(1).max(5),
    kind: z.enum(["plain", "rich"]),
    more: z.array(z.string()).optional(),
  }),
  access: { list: "public", create: "user" },
  search: ["text"],
});
const usual: Greeted = {
  title: "Notes API",
  server: { url: "http://localhost:9000/" },
  databaseUrl: "sqlite:/work/api/data/api.db",
  masterKey,
  environmentFile,
  projectFolder: "/work/api",
  workingFolder: "/work/api",
  resources: [note],
  accounts: { signIn: "master", signUp: "master", mails: undefined, linkOrigins: undefined },
};

/** What a person pastes. */
function pasted(text: string): readonly string[] {
  return text.match(/^ {2}\S.*$/gm)?.map((line) => line.trim()) ?? [];
}

describe("greeting", () => {
  it("shows where the server answers, its documents and the file of the keys", () => {
    const lines = greeting(usual).split("\n");
    expect(lines.slice(0, 5)).toEqual([
      "Notes API on http://localhost:9000, reference at http://localhost:9000/docs",
      "Documents: sqlite:/work/api/data/api.db",
      "Keys: .env",
      "",
      "Try, in another terminal:",
    ]);
  });

  it.each([
    ["http://localhost:9000/", "http://localhost:9000"],
    ["http://[::1]:9000/", "http://[::1]:9000"],
    ["http://127.0.0.1:9000/", "http://127.0.0.1:9000"],
  ])("of a server at %s has only URLs that work", (url, shown) => {
    const text = greeting({ ...usual, server: { url } });
    const urls = text.match(/http:[^\s",]+/g) ?? [];
    expect(urls).toHaveLength(6);
    for (const each of urls) {
      expect(URL.canParse(each)).toBe(true);
      expect(new URL(each).href.startsWith(`${shown}/`)).toBe(true);
      expect(each).not.toContain(`${shown}//`);
    }
  });

  it("shows how to create and find what the first resource has", () => {
    expect(pasted(greeting(usual)).slice(-2)).toEqual([
      "curl -w '\\n' http://localhost:9000/notes -d text='Some text' -d stars=1 -d kind=plain -d access_token=$TOKEN",
      `curl -w '\\n' "http://localhost:9000/notes?q=some&fields=text"`,
    ]);
  });

  it.each([
    ["a list of texts", z.object({ tags: z.array(z.string()) })],
    ["a text of a certain form", z.object({ code: z.string().regex(/^x+$/) })],
    ["a longer text", z.object({ code: z.string().min(100) })],
  ])("shows no form that the API would refuse: %s", (_, schema) => {
    const access = { list: "public", create: "public" } as const;
    const odd = defineResource({ name: "odd", path: "/odds", schema, access });
    expect(pasted(greeting({ ...usual, resources: [odd] })).at(-1)).toBe(
      `curl -w '\\n' http://localhost:9000/odds`,
    );
  });

  it("shows no identifier that nothing has, and no number that nobody would send", () => {
    const shown = (schema: ReturnType<typeof z.object>): string | undefined => {
      const relations = { of: { to: (): Resource => odd } };
      const access = { list: "public", create: "public" } as const;
      const odd = defineResource({ name: "odd", path: "/odds", schema, access, relations });
      return pasted(greeting({ ...usual, resources: [odd] })).at(-2);
    };
    const numbers = { count: z.int(), few: z.int().min(3), below: z.number().max(-1) };
    expect(shown(z.object({ ...numbers, of: z.string().optional() }))).toBe(
      "curl -w '\\n' http://localhost:9000/odds -d count=1 -d few=3 -d below=-1",
    );
    expect(shown(z.object({ ...numbers, of: z.string() }))).not.toContain("/odds");
  });

  it("shows users alone when there is nothing else", () => {
    expect(pasted(greeting({ ...usual, resources: [] })).at(-1)).toBe(
      "curl -w '\\n' http://localhost:9000/users/me -H \"Authorization: Bearer $TOKEN\"",
    );
  });

  it.each([
    ["another", `MASTER_KEY=${"b2".repeat(24)}\n`],
    ["none", "PORT=1\n"],
    ["one before a Windows line end", `MASTER_KEY=${masterKey}\r\nPORT=1\r\n`],
    ["a quoted", `MASTER_KEY="${masterKey}"\n`],
    ["a second", `MASTER_KEY=${masterKey}\nMASTER_KEY=${"b2".repeat(24)}\n`],
  ])("reads no key from a file with %s key", (_, text) => {
    const shown = greeting({ ...usual, environmentFile: { path: "/work/api/.env", text } });
    expect(shown).toContain("\nKeys: from the environment\n");
    expect(shown).toContain("with MASTER_KEY set as here");
    expect(shown).not.toContain("MASTER_KEY=$(");
    expect(pasted(shown).filter((line) => line.includes("$MASTER_KEY"))).toHaveLength(2);
  });

  it.each([
    ["which a mail confirms", {}, 5],
    ["of which no mail is sent", undefined, 3],
  ])("needs no master key for an open sign-up, %s", (_, mails, count) => {
    const open = { signUp: "public", signIn: "public" } as const;
    const linkOrigins = ["https://app.example"];
    const accounts = { ...open, linkOrigins, mails } as Greeted["accounts"];
    const shown = greeting({ ...usual, resources: [], accounts, environmentFile: undefined });
    expect(shown).not.toContain("MASTER_KEY");
    expect(pasted(shown)).toHaveLength(count);
    expect(shown.includes("link=https://app.example/email-changes\n")).toBe(mails !== undefined);
  });

  it("names no file that is not there", () => {
    const shown = greeting({ ...usual, environmentFile: undefined });
    expect(shown).toContain("\nKeys: from the environment\n");
    expect(shown).not.toContain(".env");
  });

  it("encodes a key that a form or a shell would change", () => {
    const shown = greeting({ ...usual, masterKey: "a+b/c=".repeat(6), environmentFile: undefined });
    expect(shown.match(/--data-urlencode "access_token=\$MASTER_KEY"/g)).toHaveLength(2);
  });

  it("quotes a path for the shell", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "it's an API "));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, ".env");
    const text = `MASTER_KEY=${masterKey}\n`;
    writeFileSync(file, text);
    const shown = greeting({ ...usual, environmentFile: { path: file, text }, workingFolder: "/" });
    const script = `${pasted(shown)[0]}\nprintf %s "$MASTER_KEY"`;
    expect(execFileSync("sh", ["-c", script], { cwd: "/", encoding: "utf8" })).toBe(masterKey);
  });
});
