import type { Context } from "../context.ts";
import { HttpUsageError } from "../errors.ts";

/** Lets the class below put its private field on any object. */
// oxlint-disable-next-line no-extraneous-class
class Subject {
  constructor(response: Response) {
    // oxlint-disable-next-line no-constructor-return
    return response;
  }
}

/**
 * Marks a response with the exchange that may change it in place. Otherwise a response that two
 * exchanges return would carry the cookies of the first client to the second.
 *
 * It is a private field and not a `WeakMap`, whose entries stay until the next major garbage
 * collection: under load that is tens of megabytes and a sixth of the CPU time.
 */
class OwnerMark extends Subject {
  #owner: Context | undefined;

  static read(response: Response): Context | undefined {
    return #owner in response ? response.#owner : undefined;
  }

  static write(response: Response, owner: Context | undefined): void {
    const mark: object = #owner in response ? response : new OwnerMark(response);
    // The constructor above returns the response itself, with the field.
    if (#owner in mark) mark.#owner = owner;
  }
}

/** Returns the exchange that may change the response in place, if there is one. */
export function ownerOf(response: Response): Context | undefined {
  return OwnerMark.read(response);
}

/** Makes the exchange the owner of a response. */
export function setOwner(response: Response, context: Context): void {
  OwnerMark.write(response, context);
}

/**
 * Claims a response for an exchange that is about to send it.
 *
 * @throws HttpUsageError `ERR_HTTP_RESPONSE_SHARED` when it belongs to another exchange
 */
export function claimResponse(response: Response, context: Context): void {
  const owner = ownerOf(response);
  if (owner === undefined) setOwner(response, context);
  else if (owner !== context) throw sharedError();
}

/** Releases a response, so that the caller of a handler may change it under another context. */
export function releaseResponse(response: Response): void {
  if (ownerOf(response) !== undefined) OwnerMark.write(response, undefined);
}

/** Makes the error for a response that two exchanges return. */
export function sharedError(): HttpUsageError {
  return new HttpUsageError(
    "ERR_HTTP_RESPONSE_SHARED",
    "this Response belongs to another exchange; make one for each request, or clone it",
  );
}
