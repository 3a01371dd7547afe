const pattern = /^[A-Za-z0-9._~:@+=-]{1,128}$/;

/** Whether a document can have this id. */
export function isPossibleId(id: string): boolean {
  return pattern.test(id);
}
