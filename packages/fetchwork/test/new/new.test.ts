import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { knownProviders } from "@fetchwork/rest/accounts/providers";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/commands.ts";
import { projectFiles } from "../../src/new/project-files.ts";
import type { ProjectOptions } from "../../src/new/project-options.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { fetchwork, temporaryFolder } from "./project-world.ts";

const quick = ["--packages", "registry", "--skip-git", "--skip-install"];

describe("fetchwork new", () => {
  it.each([
    [["shop", "--name", "My Shop"], 'invalid name "My Shop"'],
    [["../Shop"], 'invalid name "Shop"'],
    [["My Shop"], "begin with a letter; set another with --name"],
    [["shop", "--name", "../../etc"], 'invalid name "../../etc"'],
    [["shop", "--name", "vitest"], "it is the name of an existing package"],
    [["a".repeat(41)], "longer than 40 characters"],
    [["shop", "--title", 'x", evil: "'], "invalid title"],
    [["shop", "--title", "a\nb"], "invalid title"],
    [["shop", "--db", "mongo"], '--db must be sqlite or postgres, got "mongo"'],
    [["shop", "--auth", "oidc"], '--auth must be password or none, got "oidc"'],
    [["shop", "--auth", "password,oidc"], '--auth must be password or none, got "password,oidc"'],
    [["shop", "--auth", "none", "--webhooks"], "--webhooks requires users"],
    [["shop", "--auth", "none", "--password-resets"], "--password-resets requires users"],
    [["shop", "--auth", "none", "--sign-up", "public"], "--sign-up public requires users"],
    [["shop", "--sign-up", "all"], '--sign-up must be master or public, got "all"'],
    [["shop", "--list", "tree"], "--list must be array or rows"],
    [["shop", "--port", "99999"], "the port must be a whole number"],
    [["shop", "--port", "0x50"], "the port must be a whole number"],
    [["shop", "--packages", "cdn"], "--packages must be registry or tarballs"],
    [[], "fetchwork new: folder is missing"],
    [["--db", "mongo"], '--db must be sqlite or postgres, got "mongo"'],
    [["--name", "My Shop"], 'invalid name "My Shop"'],
    [["shop", "more"], 'unexpected argument "more"'],
  ])("refuses %j in one line, and writes nothing", async (args, message) => {
    const folder = await temporaryFolder();
    const { code, stdout, stderr } = await fetchwork(folder, "new", ...quick, ...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(2);
    expect(await readdir(folder)).toEqual([]);
  });

  it("names the folder to change to as it is shorter: from here, or whole", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "here"));
    const below = await fetchwork(join(folder, "here"), "new", "shop", ...quick);
    expect(below.stdout).toContain("  cd shop\n");
    const beside = await fetchwork(join(folder, "here"), "new", join(folder, "other"), ...quick);
    expect(beside.stdout).toContain(`  cd ${join(folder, "other")}\n`);
  });

  it.skipIf(!existsSync("/proc/self"))("says so where a folder cannot be made", async () => {
    for (const folder of ["proc/fetchwork/shop", "proc/shop"]) {
      const { code, stderr } = await fetchwork("/", "new", folder, ...quick);
      const message = `cannot create /${folder}: no such file or directory`;
      expect([code, stderr]).toEqual([1, `fetchwork new: ${message}\n`]);
    }
  });

  it.each([
    [["--db", "mongo"], '--db must be sqlite or postgres, got "mongo"'],
    [["--port", "abc"], "the port must be a whole number"],
    [["--auth", "myspace"], '--auth must be password or none, got "myspace"'],
    [["--list", "tree"], "--list must be array or rows"],
    [["--title", "<b>"], "invalid title"],
    [["--auth", "none", "--webhooks"], "--webhooks requires users"],
    [["--packages", "cdn"], "--packages must be registry or tarballs"],
    [["--name", "My Shop"], 'invalid name "My Shop"'],
  ])("refuses %j on a terminal before the first question", async (args, message) => {
    const folder = await temporaryFolder();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    for (const named of [[], ["shop"]]) {
      const io = memoryIo({ cwd: folder, stdin });
      expect(await runCommand(commands, { args: ["new", ...named, ...args], io })).toBe(2);
      expect(io.written.stderr).toContain(message);
    }
    expect(stdin.listenerCount("keypress")).toBe(0);
  });

  it("rejects a folder that is not empty, and a file", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "shop"));
    await writeFile(join(folder, "shop/mine.txt"), "mine");
    await writeFile(join(folder, "file"), "");
    expect(await fetchwork(folder, "new", "shop", ...quick)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("shop is not empty"),
    });
    expect((await fetchwork(folder, "new", "file", ...quick)).stderr).toContain("is a file");
    expect(await readdir(join(folder, "shop"))).toEqual(["mine.txt"]);
  });

  it("writes the layout of the specification into an empty folder without asking", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "shop"));
    const { code, stdout } = await fetchwork(folder, "new", "shop", ...quick);
    expect(code).toBe(0);
    const files = await readdir(join(folder, "shop"), { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining([
        "src/app.ts",
        "src/config.ts",
        "src/index.ts",
        "src/services/accounts.ts",
        ...["controller", "index", "model", "user.test"].map((name) => `src/api/user/${name}.ts`),
        ".env",
        ".env.example",
        ".gitignore",
        "README.md",
        "package.json",
        "tsconfig.json",
      ]),
    );
    const manifest = JSON.parse(await readFile(join(folder, "shop/package.json"), "utf8"));
    expect(Object.keys(manifest.scripts).toSorted()).toEqual([
      "build",
      "coverage",
      "dev",
      "docs",
      "lint",
      "preprod",
      "prod",
      "test",
    ]);
    expect(stdout).toContain("  cd shop\n  npm install\n");
    expect(stdout).toContain("  npm run dev\n");
    expect(await readdir(folder)).toEqual(["shop"]);
  });

  it("generates random secrets that only their owner can read, and excludes them from Git", async () => {
    const folder = await temporaryFolder();
    await fetchwork(folder, "new", "one", ...quick);
    await fetchwork(folder, "new", "two", ...quick);
    const secrets = new Set<string>();
    for (const name of ["one", "two"]) {
      const file = join(folder, name, ".env");
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const text = await readFile(file, "utf8");
      for (const variable of ["MASTER_KEY", "JWT_SECRET"]) {
        secrets.add(new RegExp(`^${variable}=([\\da-f]{48})$`, "m").exec(text)?.[1] ?? "");
      }
      expect(await readFile(join(folder, name, ".gitignore"), "utf8")).toMatch(/^\.env$/m);
    }
    expect(secrets.size).toBe(4);
    expect(secrets).not.toContain("");
  });

  it("keeps to the master key unless --sign-up is public, which brings mails", async () => {
    const folder = await temporaryFolder();
    for (const [name, ...args] of [["one"], ["two", "--yes"], ["three", "--sign-up", "public"]]) {
      await fetchwork(folder, "new", name ?? "", ...quick, ...args);
      const text = await readFile(join(folder, name ?? "", "src/services/accounts.ts"), "utf8");
      const openTo = name === "three" ? "public" : "master";
      expect(text).toContain(`{ signUp: "${openTo}", signIn: "${openTo}" }`);
      const config = await readFile(join(folder, name ?? "", "src/config.ts"), "utf8");
      expect(config.includes("...mailSettings")).toBe(name === "three");
    }
  });

  it("creates a Git repository unless it is inside another one", async () => {
    const folder = await temporaryFolder();
    const options = ["--packages", "registry", "--skip-install"];
    await fetchwork(folder, "new", "outer", ...options);
    await fetchwork(join(folder, "outer"), "new", "inner", ...options);
    expect(await readdir(join(folder, "outer"))).toContain(".git");
    expect(await readdir(join(folder, "outer/inner"))).not.toContain(".git");
    const ignored = execFileSync("git", ["status", "--porcelain", "-uall"], {
      cwd: join(folder, "outer"),
      encoding: "utf8",
    });
    expect(ignored).not.toMatch(/ \.env$/m);
  });

  it("leaves no file when it is interrupted", async () => {
    const folder = await temporaryFolder();
    const io = memoryIo({ cwd: folder, signal: AbortSignal.abort(new Error("interrupted")) });
    expect(await runCommand(commands, { args: ["new", "shop", ...quick], io })).toBe(130);
    expect(io.written.stderr).toBe("fetchwork new: interrupted\n");
    expect(await readdir(folder)).toEqual([]);
  });
});

/** All that may be chosen together. */
const choices: readonly ProjectOptions[] = (["sqlite", "postgres"] as const).flatMap((database) =>
  (["array", "rows"] as const).flatMap((list) => {
    const base = { name: "shop", title: "Shop", database, list, port: 9000 };
    const off = [false, true];
    return [
      { ...base, hasUsers: false, passwordResets: false, webhooks: false },
      ...off.flatMap((passwordResets) =>
        off.map((webhooks) => ({
          ...base,
          hasUsers: true,
          passwordResets,
          webhooks,
          signUp: passwordResets && !webhooks ? ("public" as const) : undefined,
        })),
      ),
    ];
  }),
);

describe("the templates", () => {
  it("name the providers that the package knows by their names", async () => {
    const [base = expect.fail()] = choices;
    const files = await projectFiles(base, {});
    const text = (files.get("README.md")?.text ?? "").toLowerCase();
    for (const name of Object.keys(knownProviders)) expect(text).toContain(name);
    expect(text).toContain("/callback");
  });

  it.each(choices)("make a whole project of %j", async (options) => {
    const files = await projectFiles(options, {});
    const manifest = JSON.parse(files.get("package.json")?.text ?? "");
    const missing: string[] = [];
    const declared = { ...manifest.dependencies, ...manifest.devDependencies };
    for (const [path, { text }] of files) {
      expect(text).not.toMatch(/#if |#endif|\/\/\+|my-api|My API|<<<<<<<|workspace|\bblog\b/);
      if (!path.endsWith(".ts")) continue;
      for (const [, from = ""] of text.matchAll(/^(?:import|export) [^"]*?from "([^"]+)";/gm)) {
        if (from.startsWith("node:")) continue;
        const isThere = from.startsWith(".")
          ? files.has(join(path, "..", from))
          : from.split("/", from.startsWith("@") ? 2 : 1).join("/") in declared;
        if (!isThere) missing.push(`${path} imports ${from}`);
      }
    }
    expect(missing).toEqual([]);
  });
});
