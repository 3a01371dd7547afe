import type { FuzzRequest } from "./requests.ts";

/** Writes a request out; `undefined` for one that no client could send. */
export function writeRequest(request: FuzzRequest, token: string | undefined): Request | undefined {
  const { credentials, isTwiceAuthenticated, method, params, rawParams, rawQuery, type } = request;
  const path = request.path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => rawParams[name] ?? encodeURIComponent((params[name] ?? "").toWellFormed()),
  );
  // These make another path.
  if (Object.values({ ...params, ...rawParams }).some((value) => ["", ".", ".."].includes(value)))
    return undefined;
  const query = new URLSearchParams(request.query.map(([name, value]) => [name, value]));
  const headers = new Headers();
  const { basic, place } = credentials;
  if (basic)
    headers.set("authorization", `Basic ${Buffer.from(basic.join(":")).toString("base64")}`);
  let fields = request.fields;
  if (token !== undefined) {
    if (place === "header" || isTwiceAuthenticated) headers.set("authorization", `Bearer ${token}`);
    if (place === "query" || isTwiceAuthenticated) query.append("access_token", token);
    if (place === "body") fields = { ...fields, access_token: token };
  }
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, value);
  const { body, contentType } = bodyOf({ ...request, fields });
  if (contentType !== undefined) headers.set("content-type", contentType);
  else if (type !== undefined) headers.set("content-type", type);
  const search = [query.toString(), rawQuery].filter(Boolean).join("&");
  const isBare = method === "GET" || method === "HEAD";
  try {
    return new Request(`http://localhost${path}${search === "" ? "" : `?${search}`}`, {
      method,
      headers,
      body: isBare ? null : body,
    });
  } catch {
    return undefined;
  }
}

interface WrittenBody {
  readonly body: Uint8Array<ArrayBuffer> | null;
  readonly contentType?: string;
}

function bodyOf({ fields, raw, type }: FuzzRequest): WrittenBody {
  // As bytes, since a text would bring a type with it.
  const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  if (raw !== undefined) return { body: typeof raw === "string" ? bytes(raw) : raw };
  if (fields === undefined) return { body: null };
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((one): [string, string] => [name, typeof one === "string" ? one : JSON.stringify(one)]),
  );
  if (type === "application/x-www-form-urlencoded")
    return { body: bytes(new URLSearchParams(entries).toString()) };
  if (type === "multipart/form-data") {
    const parts = entries.map(
      ([name, value]) =>
        `--fuzz\r\nContent-Disposition: form-data; name="${name.replace(/["\r\n]/g, "_")}"\r\n\r\n${value}\r\n`,
    );
    return {
      body: bytes(`${parts.join("")}--fuzz--\r\n`),
      contentType: "multipart/form-data; boundary=fuzz",
    };
  }
  return { body: bytes(JSON.stringify(fields)), contentType: type ?? "application/json" };
}
