import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createSandbox } from "../src/verify/sandbox.ts";

/**
 * The process that a script tries to escape to: it has a secret in its environment, in its keyring,
 * and in an open file. It runs each script of its input plainly and sealed, and writes what each
 * printed.
 */
interface Order {
  readonly isSealed: boolean;
  readonly script: string;
  readonly cwd: string;
  readonly readOnly: readonly string[];
  readonly timeout: number;
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  const output = await (order.isSealed ? runSealed(order) : runPlainly(order)).catch(String);
  process.stdout.write(`${JSON.stringify(output)}\n`);
}

async function runSealed({ script, cwd, readOnly, timeout }: Order): Promise<string> {
  const sandbox = await createSandbox({ memory: 64, timeout });
  // Under load the sandbox takes its time to be made.
  const { stdout } = await sandbox.exec(["sh", "-c", `echo begun; ${script}`], { cwd, readOnly });
  if (!stdout.startsWith("begun\n")) throw new Error("the script did not run");
  return stdout;
}

function runPlainly({ script, cwd }: Order): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", script], {
      cwd,
      stdio: ["ignore", "pipe", "ignore", "ignore", "ignore", "ignore", "ignore", 7],
    });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("close", () => resolve(output));
  });
}
