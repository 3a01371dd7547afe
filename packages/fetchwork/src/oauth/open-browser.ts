import { spawn } from "node:child_process";
import type { CommandIo } from "../command/command-io.ts";

/** A program and its arguments. */
export interface Opener {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * Returns the command that opens a URL on this system; `undefined` without a screen. No shell is
 * involved: the URL is one argument.
 *
 * @throws TypeError for a URL that is not http or https
 */
export function openerOf(
  target: string,
  { platform, env }: { readonly platform: NodeJS.Platform; readonly env: CommandIo["env"] },
): Opener | undefined {
  const url = new URL(target);
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("the URL must be http or https");
  // The form of WHATWG: it begins with its scheme and has no space, quote or control character.
  const { href } = url;
  if (platform === "darwin") return { program: "open", args: [href] };
  // `start` is a command of a shell that would interpret the `&` of the URL; this is what it runs.
  if (platform === "win32") {
    return { program: "rundll32.exe", args: ["url.dll,FileProtocolHandler", href] };
  }
  const hasScreen = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"].some(
    (name) => (env[name] ?? "") !== "",
  );
  return hasScreen ? { program: "xdg-open", args: [href] } : undefined;
}

/** Opens a URL in the user's browser. Resolves to whether there was something to open it with. */
export function openBrowser(url: string, { env }: Pick<CommandIo, "env">): Promise<boolean> {
  const opener = openerOf(url, { platform: process.platform, env });
  if (opener === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener.program, opener.args, {
      env: { ...env },
      detached: true,
      stdio: "ignore",
      shell: false,
    });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
    // The browser may live longer than the command.
    child.unref();
  });
}
