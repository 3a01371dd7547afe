import { execFileSync } from "node:child_process";
import { serve } from "@fetchwork/http/serve";
import { fileServer } from "@fetchwork/middleware/node";
import { buildSite, isInstalled } from "./build.ts";
import { built } from "./llms.ts";

if (!isInstalled) {
  // npm's own script, so that no shell is needed to find it.
  const npm = process.env["npm_execpath"];
  if (npm === undefined) throw new Error("run it by: npm run docs");
  execFileSync(process.execPath, [npm, "ci", "--no-audit", "--no-fund"], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
}
buildSite();
if (!process.argv.includes("--build")) {
  const port = Number(process.env["PORT"] ?? 4173);
  const server = await serve(fileServer(built), { port, hostname: "localhost" });
  console.log(`The documentation is at ${server.url}`);
}
