/** `render`: resources → every object that the operator would create, as text. Reads no Secret, so it cannot print one. */
import * as Result from "effect/Result";
import type { Resource } from "../api/decode.ts";
import { withChangeFindings } from "../api/change_rules.ts";
import { derive, type Derived, type Surroundings } from "../config/derive.ts";
import type { Json } from "../data/json.ts";
import type { Platform } from "../resources/blueprint.ts";
import { metricsEnv } from "../resources/metrics_env.ts";
import { UNREAD_PARTS } from "../resources/connection_secrets.ts";
import { listed, objectsOf } from "../resources/objects.ts";
import { blueprintOf, configContentOf, NOWHERE, type Place } from "../resources/of_resource.ts";
import { readYaml11, writeYaml } from "../data/yaml.ts";
import { bundleAnnotation, bundleDigest } from "../plan/ca_bundle.ts";
import { derivedWith, type Given } from "../plan/given_config_maps.ts";
import { intendedExposureWarnings } from "./exposure.ts";
import { type InputFile, readInputs } from "./input.ts";
import { moved } from "./moved.ts";
import { lines, type Outcome, type Style } from "./outcome.ts";

export interface RenderOptions {
  /** `config`: the bare config.yaml; `env`: the list of EnvVar; undefined: every object. */
  readonly only: "config" | "env" | undefined;
  readonly format: "yaml" | "json";
  readonly style: Style;
  /** Of resources that name none. */
  readonly namespace?: string | undefined;
  /** Of the intended cluster, which is not contacted; undefined: plain Kubernetes. */
  readonly platform?: Platform | undefined;
}

export const renderCommand = (
  files: ReadonlyArray<InputFile>,
  surroundings: Surroundings,
  { only, format, style, platform = NOWHERE.platform, namespace = NOWHERE.namespace }: RenderOptions,
): Outcome => {
  const { resources, skipped, converted, none } = readInputs(files);
  const rendered = resources.map(({ label, current, resource, warnings, configMaps, located }) => {
    const known = { ...surroundings, configMaps };
    const made = withChangeFindings(current, Result.flatMap(resource, (decoded) => derivedWith(decoded, known)));
    return Result.isFailure(made) || Result.isFailure(resource)
      ? {
        documents: [],
        notes: Result.isFailure(made)
          ? made.failure.failures.map((failure) =>
            `${style.name(label)}: ${style.error("error:")} ${located(failure).message}`
          )
          : [],
        ok: false,
      }
      : {
        documents: documentsOf(resource.success, made.success, only, { platform, namespace }),
        notes: [
          ...[
            ...warnings,
            ...made.success.warnings,
            ...intendedExposureWarnings(resource.success, made.success.derived, configMaps, platform, namespace),
          ]
            .map((note) => {
              const { path, message } = located(note);
              return `${style.name(label)}: ${style.warning("warning:")} ${path}: ${message}`;
            }),
          ...notesOf(label, made.success.derived, only, style),
          ...movedNotes(resource.success, made.success.derived, surroundings).map((text) =>
            `${style.name(label)}: ${text}`
          ),
        ],
        ok: true,
      };
  });
  return {
    stdout: printed(rendered.flatMap(({ documents }) => documents), format),
    stderr: lines([...skipped, ...converted, ...none, ...rendered.flatMap(({ notes }) => notes)]),
    code: none.length > 0 || rendered.some(({ ok }) => !ok) ? 1 : 0,
  };
};

/** Compared with the config for the resource's own server version. */
const movedNotes = (resource: Resource, derived: Derived, surroundings: Surroundings): ReadonlyArray<string> => {
  const { serverVersion, ...usual } = surroundings;
  const before = serverVersion === undefined ? undefined : Result.getOrUndefined(derive(resource, usual));
  if (before?._tag !== "Generated" || derived._tag !== "Generated") return [];
  const of = ({ config, server }: Extract<Derived, { readonly _tag: "Generated" }>) => ({
    tree: config.tree,
    family: server.family,
  });
  return moved(of(before), of(derived)).map((text) => `on server ${serverVersion}: ${text}`);
};

/** A document to print: JSON, or YAML text that is final already. */
type Document = { readonly value: Json } | { readonly yaml: string };

const documentsOf = (
  resource: Resource,
  { derived, caBundlePem }: Given,
  only: RenderOptions["only"],
  { platform, namespace }: Pick<Place, "platform" | "namespace">,
): ReadonlyArray<Document> => {
  if (only === "config") return derived._tag === "Generated" ? [{ yaml: derived.config.yaml }] : [];
  const caBundleDigest = bundleDigest(caBundlePem);
  const place: Place = {
    ...NOWHERE,
    platform,
    namespace: resource.namespace ?? namespace,
    caBundleDigest,
    podAnnotations: bundleAnnotation(caBundleDigest),
    // As of a resource that is new there.
    isMonitored: platform.served.includes("PodMonitor"),
  };
  const blueprint = blueprintOf(resource, derived, place);
  if (only === "env") return [{ value: [...metricsEnv(blueprint), ...blueprint.env] as unknown as Json }];
  const contents = { config: configContentOf(derived), connections: UNREAD_PARTS, caBundlePem };
  return listed(objectsOf(blueprint, contents)).map((value) => ({ value }));
};

const notesOf = (label: string, derived: Derived, only: RenderOptions["only"], style: Style): ReadonlyArray<string> => {
  const note = (text: string) => only === "config" ? [`${style.name(label)}: no config to print: ${text}`] : [];
  switch (derived._tag) {
    case "Generated":
      return [];
    case "Override":
      return note(
        `${
          derived.key === undefined ? "" : `key ${derived.key} of `
        }ConfigMap ${derived.configMapName} is used unchanged`,
      );
    case "DistributionDefault":
      return note(`${derived.distribution.image} runs the config built into the image`);
  }
};

const printed = (documents: ReadonlyArray<Document>, format: "yaml" | "json"): string => {
  if (format === "yaml") {
    return documents.map((document) => "yaml" in document ? document.yaml : writeYaml(document.value)).join("---\n");
  }
  const values = documents.map((document) =>
    "yaml" in document ? Result.getOrElse(readYaml11(document.yaml), () => null) : document.value
  );
  return values.map((value) => `${JSON.stringify(value, null, 2)}\n`).join("");
};
