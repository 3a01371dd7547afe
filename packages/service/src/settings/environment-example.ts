import { randomBytes } from "node:crypto";
import type { Config } from "./define-config.ts";
import { isRequired, isSecret, secretExample, type Setting } from "./setting.ts";

/**
 * Writes the settings of a service as the text of `.env.example`: each with its description, those
 * without a default and all secrets first and to be filled, the others as comments.
 */
export function environmentExample({
  defaults,
  shape,
}: Pick<Config, "defaults" | "shape">): string {
  const entries = Object.entries(shape).map(([name, setting]) => {
    const lines = linesOf(name, setting, defaults[name]);
    return { isFilled: isRequired(setting) || isSecret(setting), lines };
  });
  const sorted = entries.toSorted((a, b) => Number(b.isFilled) - Number(a.isFilled));
  const blocks = sorted.map(({ isFilled, lines: { about, values } }) => {
    const shown = isFilled ? values : values.map((line) => `# ${line}`);
    return [...about, ...shown].join("\n");
  });
  const head =
    "# Copied to .env with random values at the first start in development. Never commit .env.";
  return `${[head, ...blocks].join("\n\n")}\n`;
}

/** Fills the secrets of {@link environmentExample} with random values. */
export function withRandomSecrets(example: string): string {
  return example.replace(/=replace-with-.*$/gm, () => `=${randomBytes(24).toString("hex")}`);
}

function linesOf(
  name: string,
  setting: Setting,
  shown: string | undefined,
): { readonly about: readonly string[]; readonly values: readonly string[] } {
  const { description = "", examples } = setting.meta() ?? {};
  const known = Array.isArray(examples) ? examples : [exampleOf(setting)];
  const values = shown === undefined ? known : [shown];
  return {
    about: wrapped(description).map((line) => `# ${line}`),
    values: values.map((value) => `${name}=${String(value)}`),
  };
}

function exampleOf(setting: Setting): string {
  return isSecret(setting) ? secretExample : "";
}

/** Breaks a text between words into lines of at most 100 characters. */
function wrapped(text: string): readonly string[] {
  return text.match(/.{1,98}(?:\s|$)/g)?.map((line) => line.trim()) ?? [];
}
