import path from "node:path";
import type { Config } from "../config.ts";

/** What to know and what to try next, printed at the start. The lines work as pasted into a shell. */
export function greeting(config: Config, url: string, folder: string): string {
  const environmentFile = path.relative(process.cwd(), path.join(folder, ".env")) || ".env";
  return `Blog API on ${url}, reference at ${url}/docs
Documents: ${config.databaseUrl}
Keys: ${environmentFile}

Try, in another terminal${process.cwd() === folder ? "" : ` in ${process.cwd()}`}:

  MASTER_KEY=$(sed -n 's/^MASTER_KEY=//p' ${environmentFile})
  curl -w '\\n' ${url}/users -d email=ada@example.com -d password=analytical -d access_token=$MASTER_KEY
  TOKEN=$(curl -s -u ada@example.com:analytical ${url}/auth -d access_token=$MASTER_KEY | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -w '\\n' ${url}/articles -d title='Notes on the Engine' -d content='It weaves algebraic patterns.' -d access_token=$TOKEN
  curl -w '\\n' "${url}/articles?q=engine&fields=title"

Ctrl-C stops it.`;
}
