import type { Context } from "../context.ts";
import { HttpUsageError } from "../errors.ts";

/** Gives the class below any object to put its private field on. */
// oxlint-disable-next-line no-extraneous-class
class Subject {
  constructor(response: Response) {
    // oxlint-disable-next-line no-constructor-return
    return response;
  }
}

/**
 * Notes on a response which exchange may change it in place. A response that two exchanges return would otherwise
 * carry the first one's cookies to the second one's client.
 *
 * A private field and no `WeakMap`: its entries stay until the next major garbage collection, which under load is tens
 * of megabytes and a sixth of the CPU time.
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

/** The exchange that may change the response in place, if there is one. */
export function ownerOf(response: Response): Context | undefined {
  return OwnerMark.read(response);
}

/** Makes the exchange the owner of a response. */
export function setOwner(response: Response, context: Context): void {
  OwnerMark.write(response, context);
}

/**
 * Takes a response for an exchange that is about to send it.
 *
 * @throws HttpUsageError `ERR_HTTP_RESPONSE_SHARED` when it belongs to another one
 */
export function claimResponse(response: Response, context: Context): void {
  const owner = ownerOf(response);
  if (owner === undefined) setOwner(response, context);
  else if (owner !== context) throw sharedError();
}

/** Gives a response up, so that the caller of a handler may change it under a context of its own. */
export function releaseResponse(response: Response): void {
  if (ownerOf(response) !== undefined) OwnerMark.write(response, undefined);
}

/** What a response that two exchanges return leads to. */
export function sharedError(): HttpUsageError {
  return new HttpUsageError(
    "ERR_HTTP_RESPONSE_SHARED",
    "this Response belongs to another exchange; make one per request, or clone it",
  );
}
