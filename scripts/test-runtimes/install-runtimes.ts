import { installPinned } from "../install-pinned.ts";
import { pins } from "./runtimes.ts";

/**
 * Installs the pinned runtimes (930 MB), unless they are there. Returns the folder of their
 * packages.
 */
export function installRuntimes(): string {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("the runtimes are pinned for Linux on x64, and this is another system");
  }
  return installPinned(pins, "fetchwork-runtimes");
}
