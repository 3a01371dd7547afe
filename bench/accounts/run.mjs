// Measures accounts against better-auth: a sign-in by password, and a request of a user who is
// signed in. Each in a separate process every time.
//
//   npm run accounts -- [rounds]
import { execFileSync } from "node:child_process";
import path from "node:path";
import { Part } from "../harness/part.ts";

const part = new Part("accounts");
part.uses("better-auth");
const worker = path.join(import.meta.dirname, "account.mjs");
const env = { ...process.env, NODE_ENV: "production" };
const works = [
  { work: "sign-in", amount: 25, names: ["fetchwork", "better-auth"] },
  {
    work: "own user",
    amount: 3_000,
    names: ["fetchwork", "better-auth", "better-auth, cookie cache"],
  },
];

for (const { amount, names, work } of works) {
  const measure = (library) => {
    const script = ["--conditions=@fetchwork/source", worker, library, work, String(amount)];
    const output = execFileSync(process.execPath, script, {
      encoding: "utf8",
      env,
      timeout: 60_000,
    });
    return { value: Number(output) };
  };
  const name = { group: "Accounts on SQLite in memory", work, unit: "CPU µs" };
  await part.compare(name, { names, measure, seconds: 90, warmUp: 0 });
}
part.close();
