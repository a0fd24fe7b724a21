/** Names of vector stores that the database of their provider does not take for its collections. */

interface Names {
  readonly accepted: RegExp;
  readonly message: string;
}

/**
 * Sources: the client of Chroma, which the server calls with the name of the store; for Milvus, the answer of milvus-lite to what
 * sanitize_collection_name in providers/utils/vector_io/vector_utils.py of the servers makes of the name, seen on 1.5.0.
 */
const NAMES: Readonly<Record<string, Names>> = {
  chromadb: {
    accepted: /^[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]$/,
    message: "Chroma accepts 3 to 512 letters, digits, dots, hyphens and underscores; change the name",
  },
  milvus: {
    accepted: /^(?![0-9]).{1,255}$/s,
    message: "Milvus accepts no name that begins with a digit; change the name",
  },
};

/** @param type Of the provider, such as `inline::milvus`. */
export const unfitCollection = (type: string, name: string): string | undefined => {
  const names = NAMES[type.replace(/^(inline|remote)::/, "")];
  return names === undefined || names.accepted.test(name) ? undefined : names.message;
};
