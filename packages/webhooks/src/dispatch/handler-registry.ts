import type { HandlerContext } from "./event-handler-options.ts";
import type { UntypedEvent } from "../event-map.ts";

/** A handler of which nothing is known. */
export type UntypedHandler = (...parameters: never[]) => unknown;

/** A handler and whether it gets the transformed event. */
export interface Registration {
  readonly handler: (event: UntypedEvent, context: HandlerContext) => unknown;
  readonly isTransformed: boolean;
}

const none: readonly Registration[] = [];

/** Lists for so many events are remembered; then they are made anew. */
const maxLists = 2000;

/** Who handles what. A map, as event names come from outside. */
export class HandlerRegistry {
  readonly #named = new Map<string, readonly Registration[]>();
  readonly #lists = new Map<string, Map<string | undefined, readonly Registration[]>>();
  #any: readonly Registration[] = none;
  #listCount = 0;

  add(name: string, handler: UntypedHandler): void {
    this.#named.set(name, [...(this.#named.get(name) ?? none), toRegistration(handler, "named")]);
    this.#forget();
  }

  addAny(handler: UntypedHandler): void {
    this.#any = [...this.#any, toRegistration(handler, "any")];
    this.#forget();
  }

  /** Removes the most recent registration of a handler; none is no mistake. */
  remove(name: string, handler: UntypedHandler): void {
    this.#named.set(name, without(this.#named.get(name) ?? none, handler));
    if (this.#named.get(name)?.length === 0) this.#named.delete(name);
    this.#forget();
  }

  removeAny(handler: UntypedHandler): void {
    this.#any = without(this.#any, handler);
    this.#forget();
  }

  /** The handlers of an event, in order: those of its action, of its name, of any event. */
  handlersOf(name: string, action: string | undefined): readonly Registration[] {
    const known = this.#lists.get(name)?.get(action);
    if (known !== undefined) return known;
    const ofAction = action === undefined ? none : (this.#named.get(`${name}.${action}`) ?? none);
    const list = [...ofAction, ...(this.#named.get(name) ?? none), ...this.#any];
    if (this.#listCount >= maxLists) this.#forget();
    let lists = this.#lists.get(name);
    if (lists === undefined) {
      lists = new Map();
      this.#lists.set(name, lists);
    }
    lists.set(action, list);
    this.#listCount += 1;
    return list;
  }

  #forget(): void {
    if (this.#listCount === 0) return;
    this.#lists.clear();
    this.#listCount = 0;
  }
}

function toRegistration(handler: UntypedHandler, kind: "named" | "any"): Registration {
  // A handler is registered for the names whose events it takes; the types of `on` see to that.
  return { handler: handler as Registration["handler"], isTransformed: kind === "named" };
}

function without(list: readonly Registration[], handler: UntypedHandler): readonly Registration[] {
  const index = list.findLastIndex((registration) => registration.handler === handler);
  return index < 0 ? list : list.toSpliced(index, 1);
}
