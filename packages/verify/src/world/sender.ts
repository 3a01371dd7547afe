import type { Resource } from "@fetchwork/rest";
import type { Findings, ShownRequest } from "../finding.ts";
import type { Caller } from "../caller.ts";
import type { World } from "./open-world.ts";

/** Response to a request. */
export interface Outcome {
  readonly request: ShownRequest;
  readonly status: number;
  /** Body and headers as text to look for marks in, with what Base64 in them says. */
  readonly text: string;
  /** Body as JSON; `undefined` for one that is not. */
  readonly json: unknown;
  /** Body and total. */
  readonly signature: string;
  /** Whether the process has ended before it has responded; the status is then 503. */
  readonly hasEnded: boolean;
}

/** Sends requests of callers, and reports statuses that no route declares. */
export class Sender {
  readonly #world: World;
  readonly #findings: Findings;
  readonly #declared: ReturnType<typeof declaredBy>;
  readonly #signal: AbortSignal | undefined;
  requests = 0;

  /** @param signal - Once it is aborted, requests reject with its reason. Default: none. */
  constructor(world: World, findings: Findings, signal?: AbortSignal) {
    this.#signal = signal;
    this.#world = world;
    this.#findings = findings;
    this.#declared = declaredBy(world);
  }

  /** @param changes - The process ends after these; no status is reported. Default: none. */
  async send(caller: Caller, request: ShownRequest, changes?: number): Promise<Outcome> {
    this.#signal?.throwIfAborted();
    this.requests += 1;
    const handled = await this.#world.handle({ caller, request, changes });
    const response = handled ?? new Response("", { status: 503 });
    const text = await response.text();
    const { status } = response;
    if (changes === undefined) this.#check(caller, request, status);
    const total = response.headers.get("x-total-count") ?? "";
    return {
      request,
      status,
      text: readable([text, ...response.headers.values()].join(" ")),
      json: parsed(text),
      signature: `${status} ${total} ${text}`,
      hasEnded: handled === undefined,
    };
  }

  #check(caller: Caller, request: ShownRequest, status: number): void {
    const [path = ""] = request.path.split("?");
    const route = this.#declared.find(
      (one) => one.method === request.method && one.pattern.test(path),
    );
    const way = route?.operation ?? `${request.method} ${path}`;
    const found = { caller: caller.name, request, status, way };
    if (status >= 500) this.#findings.add({ code: "server-error", ...found });
    else if (route && !route.statuses.has(String(status)) && !(route.mayRefuse && status >= 400)) {
      this.#findings.add({ code: "undeclared-status", ...found });
    }
  }
}

/** Hooks that may refuse, by method and path below the resource; those after a change may not. */
const refusing: Readonly<Record<string, readonly (keyof Resource["hooks"])[]>> = {
  "GET ": ["beforeList", "afterList"],
  "QUERY ": ["beforeList", "afterList"],
  "GET /groups": ["beforeList"],
  "GET /{id}": ["beforeShow", "afterShow"],
  "POST ": ["beforeCreate"],
  "POST /bulk": ["beforeCreate", "beforeUpdate", "beforeRemove"],
  "PUT /{id}": ["beforeUpdate"],
  "PATCH /{id}": ["beforeUpdate"],
  "DELETE /{id}": ["beforeRemove"],
  "POST /{id}/restore": ["beforeRestore"],
};

/** Returns the statuses that operations declare. Hooks that may refuse do so with any status. */
function declaredBy({ openApi, ownRoutes, service }: World) {
  const own = new Set(ownRoutes.map(({ operation }) => operation));
  // A removal takes documents along that refer to it, with their hooks.
  const isRemoving = service.resources.some((one) => one.hooks.beforeRemove !== undefined);
  const mayRefuse = (method: string, path: string): boolean =>
    service.resources.some((one) => {
      const place = path.startsWith(one.path) ? path.slice(one.path.length) : undefined;
      const names = refusing[`${method} ${place}`] ?? [];
      return names.some(
        (name) => one.hooks[name] !== undefined || (name === "beforeRemove" && isRemoving),
      );
    });
  const routes = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, described]) => {
      const { operationId: operation, responses } = described as {
        readonly operationId: string;
        readonly responses: object;
      };
      const method = name.toUpperCase();
      const literal = path
        .split(/\{\w+\}/)
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      return {
        method,
        pattern: new RegExp(`^${literal.join("[^/]+")}$`),
        operation,
        statuses: new Set(Object.keys(responses)),
        mayRefuse: !own.has(operation) && mayRefuse(method, path),
        depth: literal.length,
      };
    }),
  );
  // Literal paths first, as the API matches them.
  return routes.toSorted((one, other) => one.depth - other.depth);
}

/** A text with its percent-encoded and Base64 parts decoded, since everybody can decode them. */
function readable(text: string): string {
  const plain = text.replace(/%[\da-f]{2}/gi, (code) =>
    String.fromCharCode(parseInt(code.slice(1), 16)),
  );
  const encoded = [...plain.matchAll(/[\w+/-]{16,}/g)];
  return [plain, ...encoded.map(([one]) => Buffer.from(one, "base64").toString("latin1"))].join(
    " ",
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
