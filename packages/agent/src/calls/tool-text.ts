/**
 * Reads the text of the first argument of a tool call from pieces of its JSON: the function returns
 * what each piece adds. It is for those who watch; what counts is read from the whole call.
 */
export function toolTextReader(name: string): (piece: string) => string {
  const start = new RegExp(`^\\s*\\{\\s*"${name}"\\s*:\\s*"`);
  let rest = "";
  let state: "before" | "inside" | "after" = "before";
  return (piece) => {
    if (state === "after") return "";
    rest += piece;
    if (state === "before") {
      const found = start.exec(rest);
      if (found === null) return "";
      rest = rest.slice(found[0].length);
      state = "inside";
    }
    let end = 0;
    while (end < rest.length && rest[end] !== '"') {
      const size = rest[end] !== "\\" ? 1 : rest[end + 1] === "u" ? 6 : 2;
      if (end + size > rest.length) break;
      end += size;
    }
    if (rest[end] === '"') state = "after";
    const text = rest.slice(0, end);
    rest = rest.slice(end);
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      return text;
    }
  };
}
