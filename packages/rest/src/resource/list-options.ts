import type { ListParameter } from "./list-parameter.ts";

/** How a resource is listed. */
export interface ListOptions {
  /**
   * Body of a list's response: an array, with the count in `X-Total-Count`; or an object of `rows`
   * and `count`. Default: `"array"`.
   */
  readonly shape?: "array" | "rows" | undefined;
  /**
   * Whether matching documents are counted: all of them (`"exact"`), which takes longer the more
   * there are; none; or up to a number from 1, beyond which `X-Total-Count-Capped: true` says that
   * there are more. `"bounded"` counts all of them where nothing narrows the list, and up to 1,000
   * where a filter, a search, a rule of access or `softDelete` does. Default: `"bounded"`.
   */
  readonly count?: number | "bounded" | "exact" | "none" | undefined;
  /** Documents on a page: without `limit`, and at most, up to 1,000. Default: 30 and 100. */
  readonly limit?:
    { readonly default?: number | undefined; readonly max?: number | undefined } | undefined;
  /** Order without `sort`: sortable fields, reversed with `-`. Default: `["-createdAt"]`. */
  readonly sort?: readonly string[] | undefined;
  /** Whether there are numbered pages; else there are cursors alone. Default: `true`. */
  readonly pages?: boolean | undefined;
  /** Parameters of one's own by name; see {@link ListParameter}. Default: none. */
  readonly parameters?: Readonly<Record<string, ListParameter>> | undefined;
}
