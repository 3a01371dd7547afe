import type { CallFact, Declared, ImportFact, WantedName } from "./module-facts.ts";

/** What is found while a module is read. */
export interface ModuleCollector {
  readonly imports: { fact: Omit<ImportFact, "names">; names: WantedName[] }[];
  readonly exports: Map<string, string | undefined>;
  readonly stars: string[];
  readonly declared: Map<string, number>;
  readonly topLevel: Map<string, Declared>;
  readonly globals: Set<string>;
  readonly importedAs: Map<string, { specifier: string; name: string }>;
  /** Local names of whole modules. */
  readonly namespaces: Map<string, { names: WantedName[] }>;
  readonly instances: Map<string, string>;
  readonly calls: CallFact[];
  opaque: boolean;
  usesEsm: boolean;
  usesCjs: WantedName | undefined;
}
