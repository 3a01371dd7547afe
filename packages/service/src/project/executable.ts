import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { StartError } from "../errors.ts";
import { assetFolder } from "./build.ts";
import { bundle } from "./bundle.ts";

/** Command that puts a program into a copy of Node before Node 25.5. */
const postject = ["--yes", "postject@1.0.0-alpha.6"];
const quiet = { stdio: "pipe" } as const;
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/**
 * Makes one file of Node, a project's service and all it loads, for machines like this one: `dist/`
 * and the name in `package.json`. Before Node 25.5 that needs Linux, Node 22 and the package
 * `postject` from npm.
 *
 * @throws StartError when this Node cannot make it, or the package `rolldown` is not installed.
 */
export async function buildExecutable(project: string): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOneStep = major > 25 || (major === 25 && minor >= 5);
  if (!isOneStep && (process.platform !== "linux" || major < 22)) {
    throw new StartError("build --executable needs Node 22 on Linux, or Node 25.5");
  }
  const manifest = fs.readFileSync(path.join(project, "package.json"), "utf8");
  const file = path.join(project, "dist", executableName(manifest));
  const folder = fs.mkdtempSync(path.join(tmpdir(), "fetchwork-executable-"));
  const inFolder = (part: string): string => path.join(folder, part);
  try {
    fs.writeFileSync(inFolder("main.cjs"), await scriptOf(path.join(project, "src/index.ts")));
    const names = fs.readdirSync(assetFolder, { recursive: true, encoding: "utf8" });
    const assets = names
      .filter((name) => name.includes(path.sep))
      .map((name) => [name.replaceAll("\\", "/"), path.join(assetFolder, name)] as const);
    const config = {
      main: inFolder("main.cjs"),
      output: isOneStep ? file : inFolder("blob"),
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      assets: Object.fromEntries(assets),
    };
    fs.writeFileSync(inFolder("config.json"), JSON.stringify(config));
    const flag = isOneStep ? "--build-sea" : "--experimental-sea-config";
    fs.mkdirSync(path.dirname(file), { recursive: true });
    execFileSync(process.execPath, [flag, inFolder("config.json")], quiet);
    if (!isOneStep) {
      fs.copyFileSync(process.execPath, file);
      const blob = ["NODE_SEA_BLOB", config.output, "--sentinel-fuse", fuse];
      execFileSync("npx", [...postject, file, ...blob], quiet);
    }
    console.log(`The executable is ${path.relative(process.cwd(), file)}`);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Returns the name of an executable, from `package.json`; on Windows it ends with `.exe`. */
export function executableName(
  manifest: string,
  platform: NodeJS.Platform = process.platform,
): string {
  const [, name = "service"] = /"name":\s*"(?:@[^"/]+\/)?([\w-][\w.-]*)"/.exec(manifest) ?? [];
  return platform === "win32" ? `${name}.exe` : name;
}

/** Returns a module and all it imports as one script: executables start no modules. */
async function scriptOf(module: string): Promise<string> {
  const [chunk] = await bundle(module, { asset, workerUrl }, options);
  const code = (chunk?.code ?? "")
    .replace(/^import (.+) from ("[^"]+");$/gm, (_, imported: string, from: string) => {
      // `all, { one as other }`, of which either may be missing.
      const names = imported
        .replace("* as ", "")
        .replaceAll(" as ", ": ")
        .split(/, (?=\{)/);
      return `const ${names.map((name) => `${name} = require(${from})`).join(", ")};`;
    })
    .replace(/\bimport\(("node:[\w/]+")\)/g, "Promise.resolve(require($1))")
    .replaceAll("import.meta.url", 'require("node:url").pathToFileURL(process.execPath).href')
    .replace(/^export \{.*\};$/m, "");
  return `(async () => {\n${code}\n})();\n`;
}

const options = { codeSplitting: false, comments: false, minify: false } as const;
const asset = 'Buffer.from(require("node:sea").getAsset(name))';

async function workerUrl(file: string): Promise<string> {
  const [chunk] = await bundle(file, { asset, workerUrl }, options);
  const code = `${chunk?.code}\n//# sourceURL=${path.basename(file)}`;
  return `new URL("data:text/javascript;base64,${Buffer.from(code).toString("base64")}")`;
}
