import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../workspace-packages.ts";

const execute = promisify(execFile);

/**
 * Makes a project that has packages of ours, installed by the line that `npm run pack` prints, and
 * nothing else but some packages of others.
 *
 * @returns The folder of the project, inside of the given one.
 */
export async function installPackages(
  names: readonly string[],
  { folder, others }: { readonly folder: string; readonly others: readonly string[] },
): Promise<string> {
  const project = join(folder, "project");
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  // The blank shows what does not quote its paths.
  const pack = ["run", "--silent", "pack", "--", ...names, "--to", join(folder, "the tarballs")];
  const { stdout: line } = await execute("npm", pack, { cwd: root });
  const words = others.map((name) => `'${name}'`);
  await execute("sh", ["-c", [line.trim(), ...words].join(" ")], {
    cwd: project,
    env: {
      ...process.env,
      npm_config_prefer_offline: "true",
      npm_config_ignore_scripts: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
    },
  });
  return project;
}
