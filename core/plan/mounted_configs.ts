/** The config and the CA bundle that the pods of a Deployment mount, which are other ones than those of the resource while a template waits. */
import * as Result from "effect/Result";
import { NO_OVERRIDES } from "../config/servers/distribution.ts";
import type { Manifest } from "../resources/blueprint.ts";
import { type ClusterSnapshot, liveKey } from "../snapshot/cluster_snapshot.ts";
import type { LiveDeployment } from "../snapshot/live_deployment.ts";
import { prepare } from "./prepare.ts";
import { liveObject } from "../snapshot/live_object.ts";

/**
 * A generated ConfigMap that the pods of a Deployment mount, if it does not exist: no further pod of the Deployment starts.
 * Of large ones, only the list is cached.
 */
export const missingConfig = (
  { live, configs, largeBundles }: Pick<ClusterSnapshot, "live" | "configs" | "largeBundles">,
  deployment: LiveDeployment | undefined,
): string | undefined => {
  const listed = [...configs, ...largeBundles].map((one) => liveObject(one).name);
  const mounted = [deployment?.config, deployment?.caBundle];
  return mounted.find((name) => name !== undefined && !live.has(liveKey("ConfigMap", name)) && !listed.includes(name));
};

/**
 * The missing ConfigMap as it was, where it is not among the `known` ones and can be made again: from the resource as it is now,
 * for the server that the pods run. The name is a digest of the content, so that another content is never taken for it.
 */
export const remadeConfig = (
  snapshot: ClusterSnapshot,
  deployment: LiveDeployment | undefined,
  known: ReadonlyArray<Manifest>,
): Manifest | undefined => {
  const name = missingConfig(snapshot, deployment);
  const serverVersion = deployment?.record.server;
  if (name === undefined || serverVersion === undefined || known.some(({ metadata }) => metadata.name === name)) {
    return undefined;
  }
  const { operator } = snapshot;
  // The image is another one now, and the config does not depend on it.
  const surroundings = { ...operator.surroundings, serverVersion, overrides: NO_OVERRIDES };
  const before = prepare({ ...snapshot, operator: { ...operator, surroundings } });
  return Result.isFailure(before)
    ? undefined
    : before.success.objects.before.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name);
};

/** What to say where it cannot be made again: nobody knows the content of a former spec, source or operator any more. */
export const lostConfig = (name: string): string =>
  `The ConfigMap ${name} that its pods mount was deleted, and cannot be made again, so that new pods cannot start`;
