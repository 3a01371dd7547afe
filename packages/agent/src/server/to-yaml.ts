/** Writes JSON values as YAML 1.2, in blocks. */
export function toYaml(value: unknown): string {
  return `${lines(value).join("\n")}\n`;
}

function lines(value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return ["[]"];
    return value.flatMap((entry) => {
      const [first = "", ...rest] = lines(entry);
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  if (typeof value !== "object" || value === null) return [scalar(value)];
  const entries = Object.entries(value);
  if (entries.length === 0) return ["{}"];
  return entries.flatMap(([key, entry]: [string, unknown]) => {
    const inside = lines(entry);
    const isBlock = typeof entry === "object" && entry !== null && Object.keys(entry).length > 0;
    if (!isBlock) return [`${scalar(key)}: ${inside[0] ?? ""}`];
    return [`${scalar(key)}:`, ...inside.map((line) => `  ${line}`)];
  });
}

/** JSON's strings are YAML's, and so are its other scalars. Only plain words go without quotes. */
function scalar(value: unknown): string {
  const isWord = typeof value === "string" && /^[a-z][\w-]*$/i.test(value);
  return isWord && !reserved.has(value.toLowerCase()) ? value : JSON.stringify(value);
}

const reserved = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n"]);
