// Measures the validation of ID tokens against oauth4webapi and openid-client: signature with keys
// that are at hand, and claims. Each in a separate process every time.
//
//   npm run id-tokens -- [rounds]
import { execFileSync } from "node:child_process";
import path from "node:path";
import { Part } from "../harness/part.ts";

const part = new Part("id-tokens");
part.uses("oauth4webapi", "openid-client");
const names = ["fetchwork", "oauth4webapi", "openid-client"];
const worker = path.join(import.meta.dirname, "id-token.mjs");

for (const algorithm of ["RS256", "ES256", "Ed25519"]) {
  const measure = (library) => {
    const script = ["--conditions=@fetchwork/source", worker, library, algorithm, "10000"];
    const output = execFileSync(process.execPath, script, { encoding: "utf8", timeout: 60_000 });
    const value = Number(output);
    return { value };
  };
  const name = { group: "ID tokens", work: algorithm, unit: "CPU µs" };
  await part.compare(name, { names, measure, seconds: 30, warmUp: 0 });
}
part.close();
