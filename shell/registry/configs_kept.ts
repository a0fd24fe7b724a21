/** Configs of images in memory, bounded: one copy of each for all resources, and none is read from a registry twice. */
import { imageName, repositoryOf } from "../../core/data/image_reference.ts";
import type { BaseSource, ReadLabels } from "../../core/config/servers/image_labels.ts";
import type { ImageQuestion } from "../../core/plan/image_question.ts";
import type { FoundConfig } from "./image_config.ts";
import { CONFIGS_KEPT_MAX } from "./limits.ts";

export const configsKept = () => {
  const found = recentlyUsed<FoundConfig>(({ config }) => (config?.text.length ?? 0) + OVERHEAD);
  const bases = recentlyUsed<BaseSource>(({ content }) => content.length + OVERHEAD);
  const idOf = ({ image, wanted }: ImageQuestion, digest: string): string =>
    JSON.stringify([repositoryOf(imageName(image)), digest, wanted ?? null]);
  return {
    of: (question: ImageQuestion, digest: string): FoundConfig | undefined => found.get(idOf(question, digest)),
    keep: (question: ImageQuestion, config: FoundConfig): void => found.set(idOf(question, config.digest), config),
    /** The same object for the same base: it is parsed, and its text made, once for each object. */
    shared: (read: ReadLabels): ReadLabels => {
      const { config } = read;
      if (config === undefined || typeof config.base.content !== "string") return read;
      const id = `${config.base.origin}\n${config.base.content}`;
      const base = bases.get(id) ?? config.base;
      bases.set(id, base);
      return { ...read, config: { ...config, base } };
    },
  };
};

/** Of an entry without its text, in characters. */
const OVERHEAD = 1024;

/** The oldest entries go once all together are longer. */
const recentlyUsed = <A>(sizeOf: (value: A) => number) => {
  const entries = new Map<string, A>();
  let size = 0;
  const remove = (key: string, value: A): void => {
    entries.delete(key);
    size -= sizeOf(value);
  };
  return {
    get: (key: string): A | undefined => {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set: (key: string, value: A): void => {
      const before = entries.get(key);
      if (before !== undefined) remove(key, before);
      entries.set(key, value);
      size += sizeOf(value);
      for (const [oldest, item] of entries) {
        if (size <= CONFIGS_KEPT_MAX || oldest === key) return;
        remove(oldest, item);
      }
    },
  };
};
