import { loadModule } from "../files/load-module.ts";
import { messageOf } from "../command/system-error.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { featuresOf, type Features } from "./features.ts";

/**
 * Runs a `model.ts`, as the program itself would run it, and reads the resource that it exports under a name.
 *
 * @throws CommandUsageError when it cannot be run, or exports no such resource.
 */
export async function loadResource(file: string, name: string): Promise<Features> {
  let loaded: object;
  try {
    loaded = await loadModule(file);
  } catch (error) {
    throw new CommandUsageError(messageOf(error), { cause: error });
  }
  const features = featuresOf(Reflect.get(loaded, name));
  if (features) return features;
  throw new CommandUsageError(`${file} must export ${name}, a result of defineResource`);
}
