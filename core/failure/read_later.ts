/** Failures that are none yet where neither registries nor ConfigMaps are read. */
import { BaseConfigRequired } from "./failures.ts";

export const isReadLater = (failure: unknown): failure is BaseConfigRequired =>
  failure instanceof BaseConfigRequired && failure.isReadLater;
