import { createTypedEndpoint, EndpointResponseError } from "@fetchwork/endpoint/typed";
import { expect, type Platform } from "../platform.ts";

interface paths {
  "/repos/{repo}/issues": {
    post: {
      parameters: { path: { repo: string }; query?: { label?: string[] } };
      requestBody: { content: { "application/json": { title: string } } };
      responses: {
        201: { content: { "application/json": { came: string; title: string } } };
        404: { content: { "application/json": { message: string } } };
      };
    };
  };
}

const create = (repo: string) => ({
  params: { path: { repo }, query: { label: ["a", "b"] } },
  body: { title: "ü" },
});
const validate = () => ({ issues: [{ message: "wrong", path: ["title"] }] });

/**
 * Calls an operation with parameters in every place, reads an error, and refuses data that a schema
 * does not expect.
 */
export async function smoke(platform: Platform): Promise<void> {
  const listener = await platform.listen(async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname.includes("none")) return Response.json({ message: "missing" }, { status: 404 });
    const { title } = (await request.json()) as { title: string };
    return Response.json({ came: pathname + search, title }, { status: 201 });
  });
  try {
    const api = createTypedEndpoint<paths>({ baseUrl: listener.origin });
    const created = await api.POST("/repos/{repo}/issues", create("a/.."));
    expect(
      "data",
      [created.status, created.data],
      [201, { came: "/repos/a%2F../issues?label=a&label=b", title: "ü" }],
    );
    const none = await api.POST("/repos/{repo}/issues", create("none"));
    expect("an error", [none.ok, none.error], [false, { message: "missing" }]);
    const schema = { "~standard": { version: 1 as const, vendor: "smoke", validate } };
    const refused: unknown = await api
      .POST("/repos/{repo}/issues", { ...create("a"), schema })
      .catch((error: unknown) => error);
    expect("a schema", refused instanceof EndpointResponseError, true);
  } finally {
    await listener.close();
  }
}
