/** The base config of the author (`spec.baseConfig`): everything that the resource says is merged into it. */
import * as Result from "effect/Result";
import { BaseConfigRequired, BaseUnreadable, UnsupportedConfigVersion } from "../failure/failures.ts";
import type { Spec } from "../api/v1alpha2.ts";
import type { BaseSource } from "../image/image_labels.ts";
import type { ConfigMaps } from "./config_map_content.ts";
import { KEY_DEFAULT } from "./own_config_key.ts";

type BaseConfig = NonNullable<Spec["baseConfig"]>;

const PATH = ["spec", "baseConfig"];

/** Undefined if the ConfigMap is not known, or lacks the key. */
export const ownBase = (
  { configMapName, key = KEY_DEFAULT }: BaseConfig,
  namespace: string,
  configMaps: ConfigMaps | undefined,
): BaseSource | undefined => {
  const { data = {}, binaryData = {} } = configMaps?.get(`${namespace}/${configMapName}`) ?? {};
  const content = Object.hasOwn(data, key)
    ? data[key]
    : Object.hasOwn(binaryData, key)
    ? bytesOf(binaryData[key])
    : undefined;
  return content === undefined ? undefined : { origin: `${key} of ConfigMap ${configMapName}`, content };
};

/** Text that is not UTF-8 is binary to `kubectl create configmap`. What is not base64 is in a file that the API server rejects. */
const bytesOf = (text = ""): Uint8Array | undefined =>
  Result.getOrUndefined(Result.try(() => Uint8Array.fromBase64(text)));

/** Its ConfigMap is not known here. */
export const missingBase = (
  { configMapName: configMap }: BaseConfig,
  image: string,
  causes: ReadonlyArray<string>,
): BaseConfigRequired =>
  new BaseConfigRequired({
    path: PATH,
    image,
    causes,
    labels: undefined,
    mayBeLabelled: false,
    config: undefined,
    configMap,
  });

/** The failure at this field, and not at the distribution. */
export const ofOwnBase = <E>(failure: E): E | BaseUnreadable | UnsupportedConfigVersion => {
  if (failure instanceof BaseUnreadable) return new BaseUnreadable({ ...failure, path: PATH });
  return failure instanceof UnsupportedConfigVersion
    ? new UnsupportedConfigVersion({ ...failure, path: PATH })
    : failure;
};
