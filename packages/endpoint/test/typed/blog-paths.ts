/** Types in the shape that openapi-typescript 7 generates, of an API that does not exist. */
export interface paths {
  "/posts": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: operations["listPosts"];
    put?: never;
    post: operations["createPost"];
    delete?: never;
    options?: never;
    head: operations["countPosts"];
    patch?: never;
    trace?: never;
  };
  "/posts/{post-id}": {
    parameters: { query?: never; header?: never; path: { "post-id": string }; cookie?: never };
    get: operations["getPost"];
    put?: never;
    post?: never;
    delete: operations["deletePost"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/posts/{post-id}:publish": {
    parameters: { query?: never; header?: never; path: { "post-id": string }; cookie?: never };
    get?: never;
    put?: never;
    post: operations["publishPost"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/files/{dir}/{name}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: operations["getFile"];
    put: operations["putFile"];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}

export interface components {
  schemas: {
    Post: { id: string; title: string; tags?: string[] };
    NewPost: { title: string; tags?: string[] };
    Problem: { title: string; status: number };
  };
  responses: {
    NotFound: {
      headers: { [name: string]: unknown };
      content: { "application/problem+json": components["schemas"]["Problem"] };
    };
  };
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

export interface operations {
  listPosts: {
    parameters: {
      query?: {
        page?: number;
        tag?: string[];
        filter?: { author?: string; state?: "draft" | "public" };
      };
      header?: never;
      path?: never;
      cookie?: { session?: string };
    };
    requestBody?: never;
    responses: {
      200: {
        headers: { [name: string]: unknown };
        content: { "application/json": components["schemas"]["Post"][] };
      };
      default: {
        headers: { [name: string]: unknown };
        content: { "application/json": components["schemas"]["Problem"] };
      };
    };
  };
  countPosts: {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    requestBody?: never;
    responses: { 200: { headers: { [name: string]: unknown }; content?: never } };
  };
  createPost: {
    parameters: {
      query?: never;
      header: { "Idempotency-Key": string; "X-Dry-Run"?: boolean };
      path?: never;
      cookie?: never;
    };
    requestBody: { content: { "application/json": components["schemas"]["NewPost"] } };
    responses: {
      201: {
        headers: { Location?: string; [name: string]: unknown };
        content: { "application/json": components["schemas"]["Post"] };
      };
      409: {
        headers: { [name: string]: unknown };
        content: { "application/json": { conflictsWith: string } };
      };
      422: {
        headers: { [name: string]: unknown };
        content: { "application/json": { fields: string[] } };
      };
    };
  };
  getPost: {
    parameters: {
      query?: { version?: number };
      header?: never;
      path: { "post-id": string };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: { [name: string]: unknown };
        content: { "application/json": components["schemas"]["Post"]; "text/html": string };
      };
      404: components["responses"]["NotFound"];
    };
  };
  deletePost: {
    parameters: { query?: never; header?: never; path: { "post-id": string }; cookie?: never };
    requestBody?: never;
    responses: {
      204: { headers: { [name: string]: unknown }; content?: never };
      "4XX": {
        headers: { [name: string]: unknown };
        content: { "application/json": components["schemas"]["Problem"] };
      };
    };
  };
  publishPost: {
    parameters: { query?: never; header?: never; path: { "post-id": string }; cookie?: never };
    requestBody?: { content: { "application/json": { at?: string } } };
    responses: { 202: { headers: { [name: string]: unknown }; content?: never } };
  };
  getFile: {
    parameters: {
      query?: never;
      header?: never;
      path: { dir: string; name: string };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: { [name: string]: unknown };
        content: { "application/octet-stream": string };
      };
    };
  };
  putFile: {
    parameters: {
      query?: never;
      header?: never;
      path: { dir: string; name: string };
      cookie?: never;
    };
    requestBody: { content: { "text/plain": string; "application/octet-stream": string } };
    responses: { 204: { headers: { [name: string]: unknown }; content?: never } };
  };
}
