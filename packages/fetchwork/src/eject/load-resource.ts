import { pathToFileURL } from "node:url";
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
    loaded = (await import(pathToFileURL(file).href)) as object;
  } catch (cause) {
    const [line = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new UsageError(`its model.ts cannot be run: ${line}`, { cause });
  }
  const features = featuresOf(Reflect.get(loaded, name));
  if (features) return features;
  throw new UsageError(`its model.ts exports no ${name} that defineResource makes`);
}
