/** The base config of the author (`spec.baseConfig`): everything that the resource says is merged into it. */
import * as Result from "effect/Result";
import { BaseConfigRequired } from "../failure/failures.ts";
import { PORT_DEFAULT, type Spec } from "../api/v1alpha2.ts";
import { type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { type Warning, warning } from "../failure/warning.ts";
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
  return content === undefined ? undefined : { origin: `${key} of ConfigMap ${configMapName}`, path: PATH, content };
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

/** What it says of the server and somebody else decides, because the pod, its probes and its Service depend on it. */
export const unreadSections = (base: JsonObject, spec: Spec): ReadonlyArray<Warning> => {
  const server = objectAt(base, "server");
  const names = Object.keys(server);
  const { tls, port } = spec.networking ?? {};
  const { oidc, introspection, webhook, upstreamHeader } = spec.auth ?? {};
  const hasTenants = [oidc?.tenantClaim, introspection?.tenantClaim, webhook?.tenantField, upstreamHeader?.tenantHeader]
    .some((field) => field !== undefined);
  const needsTenants = spec.auth !== undefined && spec.tenancy === undefined && !hasTenants &&
    stringAt(server, "tenancy", "mode") === "multi";
  const unread: ReadonlyArray<readonly [isSaid: boolean, keys: ReadonlyArray<string>, way: string]> = [
    [tls?.enabled !== true, TLS_KEYS, "the server answers without TLS; set spec.networking.tls"],
    [port === undefined, ["port"], "set spec.networking.port"],
    [spec.workload?.workers === undefined, ["workers"], "set spec.workload.workers"],
    [
      spec.auth !== undefined,
      ["auth"],
      "spec.auth replaces all of it; write its policies in spec.auth.accessPolicy and routePolicy",
    ],
  ];
  return [
    ...unread.flatMap(([isSaid, keys, way]) =>
      keys.filter((key) => isSaid && names.includes(key) && (key !== "port" || server.port !== PORT_DEFAULT))
        .slice(0, 1).map((key) =>
          warning("SectionIgnored", PATH, `server.${key} of the base config is not used: ${way}`)
        )
    ),
    ...(needsTenants
      ? [
        warning(
          "ConfigUnfit",
          PATH,
          "server.tenancy of the base config rejects callers without a tenant, and spec.auth names none; set tenantClaim, " +
            "tenantField or tenantHeader there",
        ),
      ]
      : []),
  ];
};

const TLS_KEYS = ["tls_certfile", "tls_keyfile", "tls_cafile"];
