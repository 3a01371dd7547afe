import type { HandlerContext } from "./event-handler-options.ts";
import type { UntypedEvent } from "../event-map.ts";

/** A handler with unknown parameters. */
export type UntypedHandler = (...parameters: never[]) => unknown;

/** A handler, and whether it is called with the transformed event. */
export interface Registration {
  readonly handler: (event: UntypedEvent, context: HandlerContext) => unknown;
  readonly isTransformed: boolean;
}

const none: readonly Registration[] = [];

/** Handlers by event name. */
export class HandlerRegistry {
  readonly #named = new Map<string, readonly Registration[]>();
  #any: readonly Registration[] = none;

  add(name: string, handler: UntypedHandler): void {
    this.#named.set(name, [...(this.#named.get(name) ?? none), toRegistration(handler, "named")]);
  }

  addAny(handler: UntypedHandler): void {
    this.#any = [...this.#any, toRegistration(handler, "any")];
  }

  /** Removes the most recent registration of a handler; does nothing when there is none. */
  remove(name: string, handler: UntypedHandler): void {
    this.#named.set(name, without(this.#named.get(name) ?? none, handler));
    if (this.#named.get(name)?.length === 0) this.#named.delete(name);
  }

  removeAny(handler: UntypedHandler): void {
    this.#any = without(this.#any, handler);
  }

  /** Finds the handlers of an event, in order: those of its action, of its name, of any event. */
  find(name: string, action: string | undefined): readonly Registration[] {
    const ofAction = action === undefined ? none : (this.#named.get(`${name}.${action}`) ?? none);
    return [...ofAction, ...(this.#named.get(name) ?? none), ...this.#any];
  }
}

function toRegistration(handler: UntypedHandler, kind: "named" | "any"): Registration {
  // The types of `on` ensure that a handler takes the events of the names that it is registered
  // for.
  return { handler: handler as Registration["handler"], isTransformed: kind === "named" };
}

function without(list: readonly Registration[], handler: UntypedHandler): readonly Registration[] {
  const index = list.findLastIndex((registration) => registration.handler === handler);
  return index < 0 ? list : list.toSpliced(index, 1);
}
