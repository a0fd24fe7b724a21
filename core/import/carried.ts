/** What a resource takes over from the workload or the compose file that ran a config, and what it does not. */
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, omit, put, stringAt } from "../data/json.ts";

export interface Carried {
  readonly spec: JsonObject;
  /** The port that the command line names: the config has no say then. */
  readonly listensOn: number | undefined;
  /** Names of what is left behind. */
  readonly left: ReadonlyArray<string>;
}

/** Fields of a pod that `spec.workload.overrides` has under the same name. */
const POD_FIELDS = [
  "serviceAccountName",
  "nodeSelector",
  "tolerations",
  "affinity",
  "imagePullSecrets",
  "resourceClaims",
  "priorityClassName",
  "runtimeClassName",
];

/** Read elsewhere, or written by the API server into every pod. */
const POD_KNOWN = [
  ...POD_FIELDS,
  "containers",
  "volumes",
  "terminationGracePeriodSeconds",
  "serviceAccount",
  "restartPolicy",
  "dnsPolicy",
  "schedulerName",
  "nodeName",
  "enableServiceLinks",
  "preemptionPolicy",
];
const CONTAINER_KNOWN = [
  "name",
  "image",
  "env",
  "envFrom",
  "resources",
  "ports",
  "volumeMounts",
  "imagePullPolicy",
  "terminationMessagePath",
  "terminationMessagePolicy",
];
const WORKLOAD_KNOWN = [
  "replicas",
  "selector",
  "template",
  "strategy",
  "updateStrategy",
  "podManagementPolicy",
  "serviceName",
  "revisionHistoryLimit",
  "progressDeadlineSeconds",
  "persistentVolumeClaimRetentionPolicy",
];

/** Kinds of volumes that hold no data of the server. */
const CARRIED = ["secret", "configMap", "projected"];

/** `isRead` tells the volumes whose content is imported. */
export const carriedFromPod = (
  object: JsonObject,
  pod: JsonObject,
  container: JsonObject,
  isRead: (volume: Json) => boolean,
): Carried => {
  const { replicas } = objectAt(object, "spec");
  const { terminationGracePeriodSeconds: grace, serviceAccountName: account } = pod;
  const mounted = listAt(container, "volumeMounts").map((mount) => stringAt(mount, "name"));
  const volumes = listAt(pod, "volumes").filter((volume) =>
    mounted.includes(stringAt(volume, "name")) && !isRead(volume)
  );
  const isCarried = (volume: Json) => CARRIED.some((kind) => objectAt(volume)[kind] !== undefined);
  const carried = volumes.filter(isCarried);
  const mounts = listAt(container, "volumeMounts").filter((mount) =>
    carried.some((volume) => stringAt(volume, "name") === stringAt(mount, "name"))
  );
  const overrides = {
    ...podMetadata(object),
    ...Object.fromEntries(
      POD_FIELDS.filter((key) => hasContent(pod[key])).map((key) => [key, pod[key] ?? null]),
    ),
    ...(typeof grace === "number" && grace !== 30 ? { terminationGracePeriodSeconds: grace } : {}),
    ...(hasContent(container.envFrom) ? { envFrom: container.envFrom ?? null } : {}),
    ...(mounts.length === 0 ? {} : { volumes: carried, volumeMounts: mounts }),
  };
  const workload = {
    ...(typeof replicas === "number" && replicas !== 1 ? { replicas } : {}),
    ...(hasContent(container.resources) ? { resources: container.resources ?? null } : {}),
    ...filled("overrides", account === "default" ? omit(overrides, "serviceAccountName") : overrides),
  };
  const listensOn = namedPort(container);
  const port = listensOn ?? whole(objectAt(listAt(container, "ports")[0]).containerPort);
  return {
    spec: {
      ...filled("workload", workload),
      ...(port === undefined || port === 8321 ? {} : { networking: { port } }),
    },
    listensOn,
    left: [
      ...(object.kind === "Pod" ? [] : unknown(objectAt(object, "spec"), WORKLOAD_KNOWN)),
      ...unknown(pod, POD_KNOWN),
      ...listAt(pod, "containers").filter((other) => stringAt(other, "name") !== stringAt(container, "name"))
        .map((other) => `container ${stringAt(other, "name")}`),
      ...unknown(container, CONTAINER_KNOWN),
      ...volumes.filter((volume) => !isCarried(volume)).map((volume) => `volume ${stringAt(volume, "name")}`),
      ...listAt(pod, "volumes").filter((volume) => isRead(volume) && listAt(volume, "projected", "sources").length > 1)
        .map((volume) => `volume ${stringAt(volume, "name")} but for the config`),
      ...listAt(container, "ports").slice(1).map((other) => `port ${objectAt(other).containerPort}`),
    ],
  };
};

/** Without the labels by which workloads, Services and charts find their own pods, and annotations that somebody renews. */
const podMetadata = (object: JsonObject): JsonObject => {
  const pod = object.kind === "Pod" ? object : objectAt(object, "spec", "template");
  const selector = objectAt(object, "spec", "selector", "matchLabels");
  const kept = (field: string, others: RegExp) =>
    Object.fromEntries(
      Object.entries(objectAt(pod, "metadata", field)).filter(([key]) =>
        !others.test(key) && (field !== "labels" || !Object.hasOwn(selector, key))
      ),
    );
  return {
    ...filled("podLabels", kept("labels", OTHER_LABELS)),
    ...filled("podAnnotations", kept("annotations", OTHER_ANNOTATIONS)),
  };
};

const OTHER_LABELS = /^(app|app\.kubernetes\.io\/.*|helm\.sh\/.*|pod-template-hash|controller-revision-hash)$/;
const OTHER_ANNOTATIONS = /^(checksum|kubectl\.kubernetes\.io|container\.apparmor\.security\.beta\.kubernetes\.io)\//;

/** Of the command line, which a compose file may have as one text, or else of a variable. */
export const namedPort = (container: JsonObject): number | undefined => {
  const words = ["entrypoint", "command", "args"].flatMap((key) => {
    const part = container[key] ?? null;
    return isList(part) ? part.map(String) : typeof part === "string" ? [part] : [];
  }).join(" ");
  const variable = listAt(container, "env").find((env) =>
    ["LLAMA_STACK_PORT", "OGX_PORT"].includes(stringAt(env, "name") ?? "")
  );
  return whole(/--port[= ]+["']?([0-9]+)/.exec(words)?.[1] ?? stringAt(variable ?? null, "value"));
};

const whole = (written: Json | undefined): number | undefined => {
  const port = Number(written ?? NaN);
  return Number.isInteger(port) && port > 0 ? port : undefined;
};

const SERVICE_KNOWN = ["image", "environment", "env_file", "configs", "container_name", "volumes", "deploy"];

export const leftOfService = (service: JsonObject, isRead: (volume: Json) => boolean): ReadonlyArray<string> => [
  ...unknown(service, SERVICE_KNOWN),
  ...Object.entries(objectAt(service, "deploy")).filter(([, value]) => hasContent(value)).flatMap(([key, value]) =>
    key === "resources" && isObject(value)
      ? Object.keys(value).map((inner) => `deploy.resources.${inner}`)
      : `deploy.${key}`
  ),
  ...(listAt(service, "volumes").every(isRead) ? [] : ["volumes"]),
];

const unknown = (map: JsonObject, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.keys(map).filter((key) => !known.includes(key) && hasContent(map[key]));

const hasContent = (value: Json | undefined): boolean => {
  if (value === undefined || value === null || value === "" || value === false) return false;
  return isList(value) ? value.length > 0 : !isObject(value) || Object.keys(value).length > 0;
};

const filled = (key: string, value: JsonObject): JsonObject =>
  Object.keys(value).length === 0 ? {} : put({}, [key], value);
