import { createEndpoint, expand, toRequest } from "@fetchwork/endpoint";
import { expect, type Platform } from "../platform.ts";

/** Expands a vector of RFC 6570, builds requests, and sends one. */
export async function smoke(platform: Platform): Promise<void> {
  const variables = { path: "/foo/bar", list: ["red", "green"], x: "1024", empty: "" };
  expect(
    "a template",
    expand("{+path:4}{/list*}{?x,empty}", variables),
    "/foo/red/green?x=1024&empty=",
  );

  const listener = await platform.listen(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const sent: unknown = await request.json();
    return Response.json({ method, pathname, search, agent: headers.get("x-client"), sent });
  });
  const endpoint = createEndpoint({ baseUrl: listener.origin });
  const api = endpoint.defaults({ headers: { "x-client": "smoke" }, owner: "a b" });
  const options = api("POST /repos/{owner}/:repo/issues{?draft}", {
    repo: "ü",
    draft: true,
    title: "Bug",
  });
  const answer: unknown = await (await fetch(toRequest(options))).json();
  expect("what came", answer, {
    method: "POST",
    pathname: "/repos/a%20b/%C3%BC/issues",
    search: "?draft=true",
    agent: "smoke",
    sent: { title: "Bug" },
  });
  await listener.close();
}
