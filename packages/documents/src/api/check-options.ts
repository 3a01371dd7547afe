import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { definitionError, optionError, queryError } from "./errors.ts";

/**
 * Checks the names of the options of a store, of its feed, and of jobs.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export const checkOptions: OptionCheck = createOptionCheck(optionError);

/**
 * Checks the names of the options of a definition.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION`
 */
export const checkDefinitionOptions: OptionCheck = createOptionCheck(definitionError);

/**
 * Checks the names of the options with which a collection is read and changed.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export const checkQueryOptions: OptionCheck = createOptionCheck(queryError);
