import { fail } from "./errors.ts";
import type { RequestOptions } from "./options.ts";
import { isJson } from "./parse-options.ts";

/**
 * Makes a standard `Request`: the method in upper case, a body of data as JSON, text and bytes as
 * they are.
 *
 * @param init Anything else that `Request` takes, such as `signal`; overrides the options.
 * @throws {EndpointError} `ERR_ENDPOINT_REQUEST` for everything that the platform refuses, with its
 * error as `cause`: an invalid or relative url, a forbidden method, a body with a cycle.
 *
 * @example
 * const response = await fetch(toRequest(endpoint("GET https://api.example.com/users/{id}", { id: 1 })));
 */
export function toRequest(options: RequestOptions, init?: RequestInit): Request {
  const { method, url, headers, body } = options;
  const isData = body !== undefined && typeof body !== "string" && isJson(body);
  try {
    const all: RequestInit & { readonly duplex: "half" } = {
      method: method.toUpperCase(),
      headers,
      // Anything else is text or another `BodyInit`.
      body: (isData ? JSON.stringify(body) : body) as BodyInit,
      // The Fetch standard asks for this word where a body is a stream.
      duplex: "half",
      ...init,
    };
    return new Request(url, all);
  } catch (cause) {
    return fail("ERR_ENDPOINT_REQUEST", "the platform rejects the request", { cause });
  }
}
