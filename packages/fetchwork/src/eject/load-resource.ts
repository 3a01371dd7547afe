import { loadModule } from "../load-module.ts";
import { messageOf } from "../system-error.ts";
import { UsageError } from "../usage-error.ts";
import { featuresOf, type Features } from "./features.ts";

/**
 * Runs a `model.ts`, as the program itself would run it, and reads the resource that it exports under a name.
 *
 * @throws UsageError when it cannot be run, or exports no such resource.
 */
export async function loadResource(file: string, name: string): Promise<Features> {
  let loaded: object;
  try {
    loaded = await loadModule(file);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
  const features = featuresOf(Reflect.get(loaded, name));
  if (features) return features;
  throw new UsageError(`${file} exports no ${name} that defineResource makes`);
}
