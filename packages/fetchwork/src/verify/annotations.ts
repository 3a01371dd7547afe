import type { Fault } from "./faults.ts";

/** Writes the commands by which GitHub Actions shows faults in a pull request, a line each. */
export function annotations(faults: readonly Fault[]): string {
  return faults
    .map(({ code, file, fix, line, message, subject }) => {
      const properties = `file=${property(file)},line=${line},title=${property(`${code} ${subject}`)}`;
      return `::error ${properties}::${data(`${message}\n${fix}`)}\n`;
    })
    .join("");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
