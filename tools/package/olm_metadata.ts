/** What lies beside the manifests of a bundle: annotations, the scorecard, and the Dockerfile of its image. */
import type { JsonObject } from "../../core/data/json.ts";
import { MIN_KUBERNETES } from "./names.ts";

export const CHANNEL = "stable";

const PREFIX = "operators.operatorframework.io";

export const annotationsOf = (name: string): Readonly<Record<string, string>> => ({
  [`${PREFIX}.bundle.mediatype.v1`]: "registry+v1",
  [`${PREFIX}.bundle.manifests.v1`]: "manifests/",
  [`${PREFIX}.bundle.metadata.v1`]: "metadata/",
  [`${PREFIX}.bundle.package.v1`]: name,
  [`${PREFIX}.bundle.channels.v1`]: CHANNEL,
  [`${PREFIX}.bundle.channel.default.v1`]: CHANNEL,
  [`${PREFIX}.test.mediatype.v1`]: "scorecard+v1",
  [`${PREFIX}.test.config.v1`]: "tests/scorecard/",
  // This one and newer.
  "com.redhat.openshift.versions": openshiftOf(MIN_KUBERNETES),
});

/** OpenShift 4.N contains Kubernetes 1.(N + 13). Source: the Kubernetes versions in its release notes, 4.6 to 4.20. */
const openshiftOf = (kubernetes: string): string => `v4.${Number(kubernetes.split(".")[1]) - 13}`;

const SCORECARD_IMAGE = "quay.io/operator-framework/scorecard-test:v1.42.0";

export const scorecard = (): JsonObject => ({
  apiVersion: "scorecard.operatorframework.io/v1alpha3",
  kind: "Configuration",
  metadata: { name: "config" },
  stages: [{
    parallel: true,
    tests: ([
      ["basic-check-spec", "basic"],
      ["olm-bundle-validation", "olm"],
      ["olm-crds-have-validation", "olm"],
      ["olm-crds-have-resources", "olm"],
      ["olm-spec-descriptors", "olm"],
      ["olm-status-descriptors", "olm"],
    ] as const).map(([test, suite]) => ({
      entrypoint: ["scorecard-test", test],
      image: SCORECARD_IMAGE,
      labels: { suite, test: `${test}-test` },
    })),
  }],
});

export const dockerfile = (name: string, header: string): string =>
  [
    header.trimEnd(),
    "FROM scratch",
    ...Object.entries(annotationsOf(name)).map(([key, value]) => `LABEL ${key}=${value}`),
    "COPY manifests /manifests/",
    "COPY metadata /metadata/",
    "COPY tests/scorecard /tests/scorecard/",
    "",
  ].join("\n");
