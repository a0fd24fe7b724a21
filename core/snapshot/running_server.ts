/** What the server of a resource runs already, from its Deployment, or from its status where there is none. */
import { type RunningServer, serverOfImage } from "../config/servers/distribution.ts";
import { type JsonObject, listAt, objectAt, stringAt } from "../data/json.ts";
import { statusOf } from "../api/status_of.ts";
import type { Status } from "../api/v1alpha2.ts";
import type { LiveDeployment } from "./live_deployment.ts";
import type { LiveReplicaSet } from "./live_replica_set.ts";
import { claimName } from "../resources/claim.ts";
import { imageOf } from "../resources/pod_spec.ts";

/** The last status, from the time when there was a Deployment, says that pods of the resource were available. */
const wasAvailable = ({ availableReplicas = 0, conditions = [] }: Status): boolean =>
  availableReplicas > 0 || conditions.some(({ type, status }) => type === "Available" && status === "True");

/**
 * Undefined if no pod of the resource was ever available. A Deployment of another operator is taken to have served: nothing
 * records otherwise, as after a restore from a backup.
 */
export const runningServer = (
  resource: JsonObject,
  live: LiveDeployment | undefined,
  /** Its ReplicaSet that serves in place of the present template. */
  former?: LiveReplicaSet,
): RunningServer | undefined => {
  if (former !== undefined) {
    const podSpec = objectAt(former.template, "spec");
    const image = imageOf(podSpec);
    return {
      image,
      serverVersion: former.record.server ?? serverOfImage(image ?? "")?.version,
      dataFolder: dataFolderIn(podSpec, claimOf(resource)),
    };
  }
  const status = statusOf(resource);
  const reported = status.version?.llamaStackServerVersion;
  const active = status.distributionConfig?.activeDistribution;
  const distribution = active === undefined ? {} : { distribution: active };
  if (live === undefined) {
    const image = status.resolvedDistribution?.image;
    const serverVersion = serverOfImage(image ?? "")?.version ?? reported;
    return reported === undefined && !(serverVersion !== undefined && wasAvailable(status))
      ? undefined
      : { image, serverVersion, ...distribution };
  }
  const { image, record: { server: recorded } } = live;
  if (recorded !== undefined && !hasServed(live)) return undefined;
  return {
    image,
    serverVersion: recorded ?? serverOfImage(image ?? "")?.version ?? reported,
    ...distribution,
    dataFolder: dataFolderIn(live.podSpec, claimOf(resource)),
  };
};

const claimOf = (resource: JsonObject): string =>
  stringAt(resource, "spec", "workload", "storage", "existingClaim") ??
    claimName(stringAt(resource, "metadata", "name") ?? "");

/** Below the mount of this claim; undefined if the pod does not mount it, or has its data elsewhere. */
const dataFolderIn = (podSpec: JsonObject, claim: string): string | undefined => {
  const volume = listAt(podSpec, "volumes").find((item) =>
    stringAt(item, "persistentVolumeClaim", "claimName") === claim
  );
  const [container] = listAt(podSpec, "containers");
  const mount = listAt(container, "volumeMounts").find((item) =>
    stringAt(item, "name") === stringAt(volume, "name") && stringAt(item, "subPath") === undefined
  );
  const state = listAt(container, "env").findLast((item) => stringAt(item, "name") === "SQLITE_STORE_DIR");
  const [at, folder] = [stringAt(mount, "mountPath"), stringAt(state, "value")];
  if (volume === undefined || at === undefined) return undefined;
  if (state === undefined) return folderWithoutVariable(at, imageOf(podSpec));
  if (folder === undefined) return undefined;
  const inside = folder.startsWith(`${at.replace(/\/+$/, "")}/`) ? folder.slice(at.replace(/\/+$/, "").length + 1) : "";
  return FOLDER.test(inside) && !inside.split("/").includes("..") ? inside : undefined;
};

/**
 * Of another operator's server, whose config names the folder itself: `~/.llama/distributions/<distribution>` (`~/.ogx` for OGX), where the
 * claim is mounted at `~/.llama` or `~/.ogx`. Source: the base configs of the published images.
 */
const folderWithoutVariable = (at: string, image = ""): string | undefined => {
  const [, distribution] = /(?:^|\/)distribution-([a-z0-9-]+)(?:[:@]|$)/.exec(image) ?? [];
  return distribution === undefined || !/(^|\/)\.(llama|ogx)\/*$/.test(at)
    ? undefined
    : `distributions/${distribution}`;
};

const FOLDER = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;

/** A completed rollout is recorded, even if the pods are not running now. */
export const hasServed = ({ availableReplicas, record, progress }: LiveDeployment): boolean =>
  availableReplicas > 0 || record.lastGood !== undefined || progress === "NewReplicaSetAvailable";
