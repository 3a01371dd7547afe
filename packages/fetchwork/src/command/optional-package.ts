import { CommandFailure } from "./command-failure.ts";
import { exitCodes } from "./exit-codes.ts";

/**
 * Loads what needs a package that is installed only where it is used.
 *
 * @throws CommandFailure as a rejection, when the package is not installed
 */
export async function withPackage<T>(name: "agent" | "verify", load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : "";
    if (!message.startsWith(`Cannot find package '@fetchwork/${name}'`)) throw cause;
    const options = name === "verify" ? "--save-dev " : "";
    throw new CommandFailure(`the package @fetchwork/${name} is not installed`, {
      exitCode: exitCodes.failed,
      hint: `Install it with: npm install ${options}@fetchwork/${name} (in a clone of Fetchwork, \`npm run pack -- ${name}\` prints the line to use)`,
      cause,
    });
  }
}
