import type { Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { BodyFields, ResourceHandler } from "../resource/call.ts";
import { without } from "../resource/guarded-schema.ts";
import { afterChange } from "../resource/hooks.ts";
import type { Resource } from "../resource/resource.ts";
import { view } from "../view.ts";
import { changeDocument } from "./change-document.ts";
import { documentResponse } from "./document-response.ts";
import { mergePatch } from "./merge-patch.ts";
import { refuseConflicts } from "./refuse-conflicts.ts";
import { checkReferences } from "./relations/check-references.ts";
import { validateChange } from "./validate-change.ts";

/** Makes the handler that changes the given fields and keeps the others. */
export function updateOperation(resource: Resource): ResourceHandler {
  const { nullable } = resource;

  return changeOperation(resource, (current, sent) => {
    // In an update, `null` means a field that is not given, unless the schema knows `null`.
    const given = Object.entries(sent).filter(
      ([name, value]) => value !== null || nullable.has(name),
    );
    return { ...current, ...Object.fromEntries(given) };
  });
}

/** Makes the handler that applies a JSON Merge Patch (RFC 7396). */
export function patchOperation(resource: Resource): ResourceHandler {
  return changeOperation(resource, mergePatch);
}

interface Changed {
  readonly before: Stored<Fields>;
  readonly document: Stored<Fields>;
}

/** Merges the input into the document and validates the whole, so that every rule holds. */
function changeOperation(
  resource: Resource,
  merge: (current: Fields, sent: BodyFields) => unknown,
): ResourceHandler {
  const { fields: own, hooks, readOnly, reserved } = resource;

  return async (call) => {
    const sent = without(call.body, readOnly);
    const { before, document } = await changeDocument<Changed>(resource, call, {
      operation: "update",
      isTogether: hooks.beforeUpdate !== undefined || resource.relations.references.length > 0,
      async change({ current, documents, transaction }) {
        const whole = merge(view(current, own), sent);
        const merged = await validateChange(resource, call, { current, whole });
        let fields = { ...hiddenFields(resource, current), ...without(merged, reserved) };
        if (transaction) {
          const event = { call, transaction, current, fields };
          fields = (await hooks.beforeUpdate?.(event)) ?? fields;
        }
        if (transaction) await checkReferences(resource, transaction, fields, current);
        const condition = { ifVersion: current };
        const replaced = await refuseConflicts(documents.replace(current.id, fields, condition));
        return replaced && { before: current, document: replaced };
      },
    });
    if (hooks.afterUpdate) {
      await afterChange(call, () => hooks.afterUpdate?.({ call, before, document }));
    }
    return documentResponse(resource, call, document);
  };
}

/**
 * Reads what the store keeps of a document in addition to the fields of the schema: the owner, and
 * what hooks and other handlers have set. An update has to store it again.
 */
function hiddenFields({ named }: Pick<Resource, "named">, document: Stored<Fields>): Fields {
  const {
    id: _id,
    version: _version,
    createdAt: _created,
    updatedAt: _updated,
    ...rest
  } = document;
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !named.has(name)));
}
