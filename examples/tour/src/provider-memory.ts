import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/**
 * Makes the memory of an OpenID provider that lives as long as the tour, so that nothing of it
 * expires.
 */
export function createProviderMemory(): AdapterFactory {
  const records = new Map<string, AdapterPayload>();

  return (model): Adapter => {
    const find = (member: "uid" | "userCode", value: string): AdapterPayload | undefined =>
      [...records.values()].find((one) => one.kind === model && one[member] === value);
    return {
      upsert(id, payload) {
        records.set(`${model}:${id}`, payload);
        return done;
      },
      find: (id) => Promise.resolve(records.get(`${model}:${id}`)),
      findByUid: (uid) => Promise.resolve(find("uid", uid)),
      findByUserCode: (code) => Promise.resolve(find("userCode", code)),
      consume(id) {
        const payload = records.get(`${model}:${id}`);
        if (payload) payload["consumed"] = Math.floor(Date.now() / 1000);
        return done;
      },
      destroy(id) {
        records.delete(`${model}:${id}`);
        return done;
      },
      revokeByGrantId(grantId) {
        for (const [key, { grantId: own }] of records) if (own === grantId) records.delete(key);
        return done;
      },
    };
  };
}

const done: Promise<void> = Promise.resolve();
