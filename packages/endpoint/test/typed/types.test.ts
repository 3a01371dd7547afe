import { expectTypeOf, it } from "vitest";
import { createTypedEndpoint } from "../../src/typed/index.ts";
import type { components, paths } from "./blog-paths.ts";

type Post = components["schemas"]["Post"];
type Problem = components["schemas"]["Problem"];

const api = createTypedEndpoint<paths>({
  baseUrl: "https://blog.example",
  fetch: async () => Response.json({}),
});
const id = { "post-id": "1" };

/** Takes calls that are compiled only. */
const never: (call: () => unknown) => void = () => {};

it("the types require path, parameters and body of the operation", () => {
  never(() => api.GET("/posts"));
  never(() => api.GET("/posts", { signal: AbortSignal.abort() }));
  never(() => api.POST("/posts/{post-id}:publish", { params: { path: id } }));
  // @ts-expect-error: there is no such path
  never(() => api.GET("/post"));
  // @ts-expect-error: the path has no such method
  never(() => api.PATCH("/posts", {}));
  // @ts-expect-error: the second argument is missing
  never(() => api.GET("/posts/{post-id}"));
  // @ts-expect-error: the parameter of the path is missing
  never(() => api.GET("/posts/{post-id}", { params: { path: {} } }));
  // @ts-expect-error: a number is not a string
  never(() => api.GET("/posts/{post-id}", { params: { path: { "post-id": 1 } } }));
  // @ts-expect-error: there is no such parameter
  never(() => api.GET("/posts", { params: { query: { pages: 1 } } }));
  // @ts-expect-error: not one of the choices
  never(() => api.GET("/posts", { params: { query: { filter: { state: "gone" } } } }));
  // @ts-expect-error: there is no such option
  never(() => api.GET("/posts", { parms: {} }));
  // @ts-expect-error: the operation has no body
  never(() => api.GET("/posts", { body: {} }));
});

it("the types require header parameters and data of the body", () => {
  const header = { "Idempotency-Key": "k" };
  never(() => api.POST("/posts", { params: { header }, body: { title: "T" } }));
  // @ts-expect-error: the body is missing
  never(() => api.POST("/posts", { params: { header } }));
  // @ts-expect-error: the header is missing
  never(() => api.POST("/posts", { body: { title: "T" } }));
  // @ts-expect-error: the title is missing
  never(() => api.POST("/posts", { params: { header }, body: {} }));
  // @ts-expect-error: there is no such property
  never(() => api.POST("/posts", { params: { header }, body: { title: "T", titel: "U" } }));
});

it("a body of another media type is what fetch takes", () => {
  const path = { dir: "a", name: "b" };
  never(() => api.PUT("/files/{dir}/{name}", { params: { path }, body: new Uint8Array(1) }));
  // @ts-expect-error: data has no text
  never(() => api.PUT("/files/{dir}/{name}", { params: { path }, body: { a: 1 } }));
});

it("data and errors have the type of their status", async () => {
  const header = { "Idempotency-Key": "k" };
  const created = await api.POST("/posts", { params: { header }, body: { title: "T" } });
  expectTypeOf(created.status).toEqualTypeOf<201 | 409 | 422>();
  if (created.ok) expectTypeOf(created.data).toEqualTypeOf<Post>();
  if (created.status === 201) expectTypeOf(created.data).toEqualTypeOf<Post>();
  if (created.status === 409)
    expectTypeOf(created.error).toEqualTypeOf<{ conflictsWith: string }>();
  if (created.status === 422) expectTypeOf(created.error).toEqualTypeOf<{ fields: string[] }>();
});

it("data and error are told apart as in openapi-fetch", async () => {
  const { data, error, response } = await api.GET("/posts");
  expectTypeOf(response).toEqualTypeOf<Response>();
  if (error) expectTypeOf(error).toEqualTypeOf<Problem>();
  else expectTypeOf(data).toEqualTypeOf<Post[]>();
  if (data) expectTypeOf(error).toEqualTypeOf<undefined>();
});

it("a range has any status, and what has no content is undefined", async () => {
  const deleted = await api.DELETE("/posts/{post-id}", { params: { path: id } });
  if (deleted.ok) expectTypeOf(deleted.data).toEqualTypeOf<undefined>();
  else expectTypeOf(deleted.error).toEqualTypeOf<Problem>();
  if (!deleted.ok) expectTypeOf(deleted.status).toEqualTypeOf<number>();
});

it("an error that the description does not list is unknown", async () => {
  const published = await api.POST("/posts/{post-id}:publish", { params: { path: id } });
  if (!published.ok) expectTypeOf(published.error).toEqualTypeOf<unknown>();
});

it("data has a type for each media type, and that of parseAs where asked", async () => {
  const options = { params: { path: id } };
  const either = await api.GET("/posts/{post-id}", options);
  if (either.ok) expectTypeOf(either.data).toEqualTypeOf<Post | string>();
  const text = await api.GET("/posts/{post-id}", { ...options, parseAs: "text" });
  if (text.ok) expectTypeOf(text.data).toEqualTypeOf<string>();
  const path = { dir: "a", name: "b" };
  const file = await api.GET("/files/{dir}/{name}", { params: { path } });
  if (file.ok) expectTypeOf(file.data).toEqualTypeOf<Blob>();
  const stream = await api.GET("/files/{dir}/{name}", { params: { path }, parseAs: "stream" });
  if (stream.ok) expectTypeOf(stream.data).toEqualTypeOf<ReadableStream<Uint8Array> | null>();
});

it("data has the type of the schema where there is one", async () => {
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: () => ({ value: { checked: true } }),
    },
  };
  const checked = await api.GET("/posts", { schema });
  if (checked.ok) expectTypeOf(checked.data).toEqualTypeOf<{ checked: boolean }>();
  else expectTypeOf(checked.error).toEqualTypeOf<Problem>();
});
