/** Fields of a document as the store keeps them. */
export type Fields = Record<string, unknown>;
