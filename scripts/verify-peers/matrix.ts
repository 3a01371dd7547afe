import { marksIn } from "../../packages/verify/src/world/canary.ts";
import { type Api, type Caller, type Collection, kindOf, type Planted } from "./api.ts";
import { type Answer, Sender, type ShownRequest } from "./sender.ts";
import { tryAsks } from "./tries/try-asks.ts";
import { tryHostile } from "./tries/try-hostile.ts";
import { tryReads } from "./tries/try-reads.ts";
import { tryWrites } from "./tries/try-writes.ts";

/** How a caller got to a field. */
export type Access = "read" | "inferred" | "written";

/** What is not as the documentation of the API promises. */
export interface PeerFinding {
  readonly code: "document-written" | "no-response" | "server-error" | `field-${Access}`;
  readonly collection: string;
  readonly field?: string | undefined;
  /** `anonymous`, `owner`, `other user`, or the name of the caller. */
  readonly caller: string;
  readonly way: string;
  readonly request: ShownRequest;
  readonly status: number;
}

/** One field of one collection, for one kind of caller. */
export interface Cell {
  readonly collection: string;
  readonly field: string;
  readonly caller: string;
  readonly access: Access;
}

export interface MatrixReport {
  readonly findings: readonly PeerFinding[];
  /** What callers got to, also where they may. */
  readonly cells: readonly Cell[];
  readonly requests: number;
}

/** A document of a collection, for one caller. */
export interface Target {
  readonly caller: Caller;
  readonly collection: Collection;
  readonly document: Planted;
}

/** What is known of a run so far. */
export class Matrix {
  readonly api: Api;
  readonly sender: Sender;
  readonly #findings = new Map<string, PeerFinding>();
  readonly #cells = new Map<string, Cell>();
  readonly #places = new Map<string, Omit<Target, "caller"> & { readonly field: string }>();
  #number = 500_000;

  constructor(api: Api) {
    this.api = api;
    this.sender = new Sender(api.url);
    for (const collection of api.collections) {
      for (const document of collection.documents) {
        for (const [field, value] of Object.entries(document.values)) {
          for (const mark of marksIn(JSON.stringify(value))) {
            this.#places.set(mark, { collection, document, field });
          }
        }
      }
    }
  }

  get findings(): readonly PeerFinding[] {
    return [...this.#findings.values()];
  }

  get cells(): readonly Cell[] {
    return [...this.#cells.values()];
  }

  /** Another number each time, for values that no document has. */
  next(): number {
    this.#number += 1;
    return this.#number;
  }

  /** Of findings that differ in the request only, the first one stays. */
  add(finding: PeerFinding): void {
    const { caller, code, collection, field, way } = finding;
    const key = [code, collection, field, caller, way].join(" ");
    if (!this.#findings.has(key)) this.#findings.set(key, finding);
  }

  /** Notes that a caller got to a field, which is a finding unless it may. */
  note(access: Access, target: Target, { answer, field, way }: Noted): void {
    const { collection, document } = target;
    const caller = kindOf(target.caller, document);
    const shown = { collection: collection.name, field, caller };
    this.#cells.set([...Object.values(shown), access].join(" "), { ...shown, access });
    const isAllowed =
      access === "written"
        ? collection.mayWrite(caller, field)
        : collection.mayRead(caller, field, document);
    if (isAllowed) return;
    const { request, status } = answer;
    this.add({ code: `field-${access}`, ...shown, way, request, status });
  }

  /** Notes each mark in a response, but for those of the request. */
  noteMarks(caller: Caller, answer: Answer, way: string): void {
    if (answer.status >= 400) return;
    const sent = new Set(marksIn(decodeURIComponent(JSON.stringify(answer.request))));
    for (const mark of marksIn(answer.text)) {
      const place = this.#places.get(mark);
      if (place === undefined || sent.has(mark)) continue;
      this.note("read", { caller, ...place }, { answer, field: place.field, way });
    }
  }

  report(): MatrixReport {
    return { findings: this.findings, cells: this.cells, requests: this.sender.requests };
  }
}

export interface Noted {
  readonly field: string;
  readonly way: string;
  readonly answer: Answer;
}

/** Tries every caller on every field of an API by HTTP. Documents are not as before afterwards. */
export async function runMatrix(api: Api): Promise<MatrixReport> {
  const matrix = new Matrix(api);
  await tryReads(matrix);
  await tryAsks(matrix);
  await tryHostile(matrix);
  await tryWrites(matrix);
  return matrix.report();
}
