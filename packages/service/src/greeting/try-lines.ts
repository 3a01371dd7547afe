import type { JsonSchema, Resource } from "@fetchwork/rest";

/** Lines for a shell that create a document of a resource and find it; `key`: the master key. */
export function triesOf(
  resource: Resource,
  { url, key }: { readonly url: string; readonly key: string },
): readonly string[] {
  const { access, input, path, relations, searchable, views } = resource;
  const form = sampleForm(input, new Set(relations.references.map(({ field }) => field)));
  const tokens: Readonly<Record<string, string>> = {
    public: "",
    user: " -d access_token=$TOKEN",
    master: ` ${key}`,
  };
  const token = tokens[String(access.create)];
  const create =
    form === undefined || token === undefined ? [] : [`curl -w '\\n' ${url}${path}${form}${token}`];
  const [field] = views.rulesFor({}).selectable.filter((name) => name !== "id");
  const isFound = searchable && create.length > 0 && form?.includes("'Some ");
  const address = isFound ? `"${url}${path}?q=some&fields=${field}"` : `${url}${path}`;
  const isOfUsers = access.list === "user" || access.list === "owner";
  const header = isOfUsers ? ' -H "Authorization: Bearer $TOKEN"' : "";
  const isOpen = access.list === "public" || isOfUsers;
  return [...create, ...(isOpen ? [`curl -w '\\n' ${address}${header}`] : [])];
}

/** Fields as curl options; `undefined` without a plain example, as for identifiers. */
function sampleForm(
  { properties = {}, required = [] }: JsonSchema,
  references: ReadonlySet<string>,
): string | undefined {
  const needed = new Set(required as readonly string[]);
  let form = "";
  for (const [name, schema] of Object.entries(properties as Readonly<Record<string, JsonSchema>>)) {
    const value = references.has(name) ? undefined : sample(name, schema);
    if (value !== undefined) form += ` -d ${name}=${value}`;
    else if (needed.has(name)) return undefined;
  }
  return form;
}

function sample(name: string, schema: JsonSchema): string | undefined {
  const { type, format, pattern, minLength = 0, maxLength = Infinity } = schema;
  if (Array.isArray(schema["enum"])) return plain(String(schema["enum"][0]));
  if (type === "boolean") return "true";
  if (type === "integer" || type === "number") {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return String(Math.min(Math.max(1, Number(minimum)), Number(maximum)));
  }
  if (type !== "string") return undefined;
  const text = samples[String(format)] ?? `Some ${name}`;
  const fits = text.length >= Number(minLength) && text.length <= Number(maxLength);
  if (!fits || (pattern !== undefined && format === undefined)) return undefined;
  return plain(text);
}

const samples: Readonly<Record<string, string>> = {
  email: "ada@example.com",
  uri: "https://example.com/",
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
};

/** Letters, digits and what means nothing to a shell need no quotes. */
function plain(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "")}'`;
}
