import { InputError } from "@fetchwork/documents";
import { json } from "@fetchwork/http";
import { fieldError } from "../field-error.ts";
import { parseListQuery } from "../list-query.ts";
import { pageLinks } from "../page-links.ts";
import { badFields } from "../problem.ts";
import type { Resource } from "../resource.ts";
import { view } from "../view.ts";
import type { ResourceHandler } from "./resource-call.ts";

/** Makes the handler that lists documents. */
export function listOperation(resource: Resource): ResourceHandler {
  const { collection, list: rules, path } = resource;
  const shown = rules.selectable;

  return async ({ query, store }) => {
    const { q, page, limit, sort, fields = shown } = parseListQuery(query, rules);
    const documents = store.collection(collection);
    const [found, total] = await Promise.all([
      documents.find({ q, sort, limit, offset: (page - 1) * limit }),
      documents.count({ q }),
    ]).catch(refuseSearch);
    const headers = {
      "x-total-count": String(total),
      link: pageLinks(path, query, { page, limit, total }),
    };
    return json(
      found.map((document) => view(document, fields)),
      { headers },
    );
  };
}

/** All but the search was checked before, and only the store knows how many words it can search for. */
function refuseSearch(error: unknown): never {
  if (!(error instanceof InputError)) throw error;
  throw badFields([fieldError("q", "invalid", error.message)]);
}
