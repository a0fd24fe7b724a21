/**
 * Fields of a Deployment that the API server fills in with these values. Whoever created the object owns them, so that an apply
 * without them removes them, and the API server sets the same again. Source: the defaults of k8s.io/api on Kubernetes 1.36.
 */
import type { Json } from "../data/json.ts";

const DEFAULTS: ReadonlyArray<readonly [path: RegExp, value: string | number]> = [
  [/\.dnsPolicy$/, "ClusterFirst"],
  [/\.restartPolicy$/, "Always"],
  [/\.schedulerName$/, "default-scheduler"],
  [/\.terminationGracePeriodSeconds$/, 30],
  [/\.terminationMessagePath$/, "/dev/termination-log"],
  [/Probe\.successThreshold$/, 1],
  [/\.defaultMode$/, 420],
  [/^spec\.revisionHistoryLimit$/, 10],
];

/** The image is not changed, so that its pull policy has the same default; the account has an older name too. */
const FOLLOWING = /\.(imagePullPolicy|serviceAccount)$/;

interface Change {
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export const staysByDefault = ({ path, before, after }: Change): boolean =>
  after === undefined &&
  (FOLLOWING.test(path) || DEFAULTS.some(([pattern, value]) => pattern.test(path) && before === value));
