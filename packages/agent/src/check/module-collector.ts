import type { CallFact, ImportFact, WantedName } from "./module-facts.ts";

/** Facts found so far while a module is read. */
export interface ModuleCollector {
  readonly imports: { fact: Omit<ImportFact, "names">; names: WantedName[] }[];
  readonly exports: Set<string>;
  readonly stars: string[];
  readonly declared: Map<string, number>;
  readonly topLevel: Set<string>;
  readonly globals: Set<string>;
  /** Local names of whole modules. */
  readonly namespaces: Map<string, { names: WantedName[] }>;
  readonly calls: CallFact[];
  opaque: boolean;
  usesEsm: boolean;
  usesCjs: WantedName | undefined;
}
