import type { Stored } from "../../../api/document.ts";
import type { StatementUse } from "../../dialect.ts";
import type { NewRow, Recording } from "../../layout.ts";
import type { PostgresDialect } from "./dialect.ts";

/** A change of rows, and what it means. */
export interface Change {
  readonly sql: PostgresDialect;
  /** The statement, without RETURNING. */
  readonly text: string;
  readonly use: StatementUse;
  /** Record for the change feed; undefined for none. */
  readonly recording: Recording | undefined;
  /** Columns of the changed rows to return. Default: none, only their number. */
  readonly returning?: string | undefined;
}

/** Effect of a change on the unique values of documents. */
export interface UniqueChange {
  /** Rows that are added. */
  readonly added?: readonly NewRow[];
  /** A row before and after. */
  readonly changed?: {
    readonly before: Stored<object> | undefined;
    readonly after: Stored<object>;
  };
  /** Whether the changed rows give up all of their unique values. */
  readonly isRemoval?: boolean;
}
