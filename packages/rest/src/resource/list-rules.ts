import type { UntypedWhere } from "@fetchwork/documents";
import type { FilterField } from "./filter-field.ts";
import type { ListParameter } from "./list-parameter.ts";

/** The parameters that lists have without being told. */
export type StandardParameter =
  | "after"
  | "fields"
  | "limit"
  | "max_distance"
  | "min_distance"
  | "near"
  | "page"
  | "q"
  | "sort"
  | "trash"
  | "where";

/** Documents on a page when `limit` is not given. */
export const defaultLimit = 30;

/** Maximum documents on a page. */
export const maxLimit = 100;

/** Rules that limit the parameters of a list. */
export interface ListRules extends NamedFields {
  /** Whether there is `q`. Default: `true`. */
  readonly searchable?: boolean | undefined;
  /** Fields to filter by. Default: none. */
  readonly filters?: readonly FilterField[] | undefined;
  /** Fields that make groups and are summed up. Default: none. */
  readonly groups?: readonly FilterField[] | undefined;
  /** Documents on a page without `limit`. Default: `30`. */
  readonly defaultLimit?: number | undefined;
  /** Maximum documents on a page. Default: `100`. */
  readonly maxLimit?: number | undefined;
  /** Field with a place on Earth, for `near`, `min_distance`, `max_distance`. Default: none. */
  readonly geo?: string | undefined;
  /** Whether there is `trash`. Default: `false`. */
  readonly trash?: boolean | undefined;
  /** Standard parameters that the list does not have. Default: none. */
  readonly without?: readonly StandardParameter[] | undefined;
  /** Parameters of one's own by name. Default: none. */
  readonly parameters?: Readonly<Record<string, ListParameter>> | undefined;
}

/** A validated list query. */
export interface ListQuery {
  /** Words to search for. */
  readonly q: string | undefined;
  /** Number of the page, from 1. */
  readonly page: number;
  /** Documents on a page, from 1 to 100 unless the rules say otherwise. */
  readonly limit: number;
  /**
   * Cursor to begin behind; `""` begins paging by cursors, as a list without `page` always does;
   * `undefined` pages by numbers.
   */
  readonly after: string | undefined;
  /** Fields to sort by; a leading `-` reverses the order. */
  readonly sort: readonly string[];
  /** Fields to show, or `undefined` for all. */
  readonly fields: readonly string[] | undefined;
  /** Condition of filters and custom parameters. */
  readonly where: UntypedWhere | undefined;
  /** Place to begin with, nearest first. */
  readonly near: NearPoint | undefined;
  /** Whether to list removed documents only, or too. */
  readonly trash: "only" | "with" | undefined;
}

/** Whether a list has a standard parameter. */
export function hasParameter(rules: ListRules, parameter: StandardParameter): boolean {
  const { filters = [], geo, searchable = true, trash = false, without = [] } = rules;
  if (parameter === "q" && !searchable) return false;
  if (parameter === "trash" && !trash) return false;
  if (parameter === "where" && filters.length === 0) return false;
  const isPlace = ["near", "min_distance", "max_distance"].includes(parameter);
  return !(isPlace && geo === undefined) && !without.includes(parameter);
}

/** All of them, in the order in which they are read. */
export const standardParameters: readonly StandardParameter[] = [
  "q",
  "page",
  "limit",
  "after",
  "sort",
  "fields",
  "near",
  "min_distance",
  "max_distance",
  "trash",
  "where",
];

/** Fields that the parameters of a list may name. */
export interface NamedFields {
  /** Fields that `sort` may name. */
  readonly sortable: readonly string[];
  /** Fields that `fields` may name. */
  readonly selectable: readonly string[];
  /** Order without `sort`, in the form of `sort`. */
  readonly defaultSort: readonly string[];
}

/** Places on Earth around one, nearest first. */
export interface NearPoint {
  /** Field that holds the place of a document. */
  readonly field: string;
  /** Degrees, -90 to 90. */
  readonly latitude: number;
  /** Degrees, -180 to 180. */
  readonly longitude: number;
  /** Metres. */
  readonly minDistance?: number | undefined;
  /** Metres. */
  readonly maxDistance?: number | undefined;
}

/** Name of the parameter that shows documents of relations. */
export const populateName = "populate";
