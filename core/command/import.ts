/**
 * `import`: a config.yaml and what runs it → the short resource that means the same, and the proof of that. Values of secrets are
 * replaced by variables before anything else is done (core/import/withheld.ts).
 */
import * as Result from "effect/Result";
import type { Derived, Surroundings } from "../config/derive.ts";
import { serverName } from "../config/servers/families/families.ts";
import { at, isList, isObject, type Json, type JsonObject, listAt, objectAt, put, stringAt } from "../data/json.ts";
import { shell } from "../data/printable.ts";
import { writeYaml } from "../data/yaml.ts";
import { publishedDistribution } from "../image/published_image.ts";
import { secretName } from "../import/wanted.ts";
import { OTHERS_TO_FILL_IN, TO_FILL_IN } from "../import/express.ts";
import { importConfig, type Imported } from "../import/importing.ts";
import { type Difference, movedTo, type OnOther } from "../import/proof.ts";
import { configMapName } from "../import/whole.ts";
import { reasonText } from "../import/reasons.ts";
import { type Found, sourceOf } from "../import/source.ts";
import { readEnvFile } from "../import/variables.ts";
import { serverOfImage } from "../config/servers/distribution.ts";
import type { InputFile } from "./input.ts";
import { moved as movedConfig } from "./moved.ts";
import { lines, type Outcome, type Style } from "./outcome.ts";

export interface ImportCommandOptions {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly serverVersion: string | undefined;
  readonly distribution: string | undefined;
  readonly envFile: InputFile | undefined;
  readonly keepData: boolean;
  /** A distribution to move to. */
  readonly to: string | undefined;
  /** Whether a difference fails. */
  readonly check: boolean;
  readonly format: "yaml" | "json";
  readonly style: Style;
}

export const importCommand = (
  files: ReadonlyArray<InputFile>,
  surroundings: Surroundings,
  options: ImportCommandOptions,
): Outcome => {
  const { style, envFile } = options;
  const failed = (sentences: ReadonlyArray<string>): Outcome => ({
    stdout: "",
    stderr: lines(sentences.map((sentence) => `${style.error("error:")} ${sentence}`)),
    code: 1,
  });
  const source = sourceOf(files, {
    name: options.name,
    namespace: options.namespace,
    variables: envFile === undefined ? undefined : readEnvFile(envFile.text),
    keepData: options.keepData,
  });
  if (Result.isFailure(source)) return failed([source.failure]);
  const found = source.success;
  const { name: written } = found.distribution;
  const isUnknown = written !== undefined && !surroundings.distributions.has(written);
  const asked = {
    keepData: options.keepData,
    serverVersion: options.serverVersion ?? found.distribution.serverVersion ??
      serverOfImage(found.image ?? "")?.version,
    distribution: options.distribution ?? (isUnknown ? undefined : written) ??
      publishedIn(found.image, surroundings),
  };
  const made = importConfig(found, asked, surroundings);
  if (Result.isFailure(made)) return failed(made.failure);
  const imported = made.success;
  const move = options.to === undefined ? undefined : movedTo(imported.resource, options.to, surroundings);
  if (move !== undefined && Result.isFailure(move)) return failed(move.failure);
  if (move !== undefined && (imported.losesAuth || lacksAuth(imported.resource, move.success))) {
    return failed([
      `authentication of ${found.origin} (server.auth) cannot be expressed on ${options.to}`,
      ...imported.reasons.map(reasonText),
      ...move.success.reasons.map(reasonText),
    ]);
  }
  const isExact = imported.differences.length === 0;
  return {
    stdout: move === undefined
      ? printed(imported, options.format)
      : importedText(move.success.resource, options.format),
    stderr: lines([
      ...found.notes.map((note) => `${found.origin}: ${note}`),
      ...(isUnknown && options.distribution === undefined
        ? [
          `${found.origin}: distribution ${written} of the resource is replaced by ${imported.candidate.name}: the operator ` +
          "has none of that name; --distribution chooses another",
        ]
        : []),
      ...report(
        imported,
        found,
        move === undefined ? shownOf(imported, options.format) : [move.success.resource],
        options.keepData,
        style,
      ),
      ...(move === undefined ? [] : moveLines(options.to ?? "", move.success, style)),
    ]),
    code: imported.losesAuth || options.check && !(isExact && imported.misshapen.length === 0) ? 1 : 0,
  };
};

const lacksAuth = (before: JsonObject, { resource }: OnOther): boolean =>
  at(before, "spec", "auth") !== undefined && at(resource, "spec", "auth") === undefined;

const publishedIn = (image: string | undefined, { distributions }: Surroundings): string | undefined => {
  const name = publishedDistribution(image ?? "");
  return name !== undefined && distributions.has(name) ? name : undefined;
};

/** Lines of one kind; more are not useful at a time. */
const ITEMS_MAX = 50;

const report = (
  imported: Imported,
  { origin, image }: Found,
  shown: ReadonlyArray<JsonObject>,
  keepData: boolean,
  style: Style,
): ReadonlyArray<string> => {
  const {
    candidate,
    rivals,
    differences,
    losesAuth,
    reasons,
    toFillIn,
    defaulted,
    moved,
    dead,
    off,
    corrections,
    faults,
    misshapen,
  } = imported;
  const configMapLine = [
    shell`kubectl create configmap ${configMapName(nameOf(imported))}`,
    ...inNamespace(imported),
    "--from-file=config.yaml=FILE",
  ].join(" ");
  const server = `${serverName(candidate.server.version)}, distribution ${candidate.name}`;
  const isForeign = image !== undefined && publishedDistribution(image) === undefined;
  const section = (title: string, items: ReadonlyArray<string>) => {
    const all = [...new Set(items)];
    const more = all.length - ITEMS_MAX;
    return all.length === 0 ? [] : [
      title,
      ...all.slice(0, ITEMS_MAX).map((item) => `  ${item}`),
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ];
  };
  const isLost = differences.some(({ kind }) => kind !== "added");
  return [
    `${style.name(origin)}: ${server}${
      rivals.length === 0 ? "" : `; fits ${rivals.join(", ")} as well, which --server-version chooses`
    }`,
    ...(isForeign ? [`image ${image} is replaced by that of ${candidate.name}${keptPaths(shown)}`] : []),
    ...section(style.error("cannot be read in your config, and is left out:"), misshapen),
    ...(differences.length === 0
      ? [misshapen.length === 0 ? style.good("equals your config") : style.warning("equals the rest of your config")]
      : section(style.warning("equals your config, except:"), differences.map(differenceText))),
    ...section("cannot be expressed:", reasons.map(reasonText)),
    ...(losesAuth
      ? [
        style.error(
          "server.auth cannot be expressed in full, so that the resource keeps the whole config; its ConfigMap:",
        ),
        `  ${configMapLine}`,
      ]
      : isLost
      ? section("to keep all of it, use the resource in the comment, with:", [
        configMapLine,
      ])
      : []),
    ...section("create before you apply:", secretLines(imported, shown)),
    ...section(
      "fill in (spec.workload.overrides.env):",
      inOneLine(toFillIn.filter((name) => shown.some((one) => isToFillIn(name, one)))),
    ),
    ...section("taken with their defaults; if you set them, add --env-file:", inOneLine(defaulted)),
    ...section(
      `data of the server lies elsewhere, so that it starts without${
        keepData ? "" : "; --keep-data keeps what it can"
      }:`,
      moved,
    ),
    ...section("off, unless a variable is set; left out:", inOneLine(off)),
    ...section(`not read by ${serverName(candidate.server.version)}:`, dead),
    ...section("corrected:", corrections),
    ...section("wrong in your config:", faults),
  ];
};

/** Variables whose paths may be in the former image alone. */
const keptPaths = (shown: ReadonlyArray<JsonObject>): string => {
  const names = shown.slice(0, 1).flatMap((resource) => {
    const overrides = objectAt(resource, "spec", "workload", "overrides");
    const mounts = listAt(overrides, "volumeMounts").flatMap((mount) => stringAt(mount, "mountPath") ?? []);
    const isMounted = (path: string) => mounts.some((mount) => path === mount || path.startsWith(`${mount}/`));
    return listAt(overrides, "env").flatMap((env) =>
      /^\/[^/]/.test(stringAt(env, "value") ?? "") && !(stringAt(env, "value") ?? "").split(":").every(isMounted)
        ? stringAt(env, "name") ?? []
        : []
    );
  });
  return names.length === 0 ? "" : `; these variables may name paths of the former image: ${names.join(", ")}`;
};

const differenceText = ({ kind, what, detail }: Difference): string =>
  `${kind}: ${what}${detail === undefined ? "" : `: ${detail}`}`;

const inOneLine = (names: ReadonlyArray<string>): ReadonlyArray<string> => names.length === 0 ? [] : [names.join(", ")];

const nameOf = ({ resource }: Pick<Imported, "resource">): string => stringAt(resource, "metadata", "name") ?? "";

const isToFillIn = (name: string, resource: JsonObject): boolean =>
  listAt(resource, "spec", "workload", "overrides", "env").some((env) =>
    stringAt(env, "name") === name && [TO_FILL_IN, ...OTHERS_TO_FILL_IN].includes(stringAt(env, "value") ?? "")
  );

const refersTo = (name: string, key: string, value: Json): boolean => {
  if (isList(value)) return value.some((item) => refersTo(name, key, item));
  if (!isObject(value)) return false;
  return value.name === name && value.key === key || Object.values(value).some((inner) => refersTo(name, key, inner));
};

const inNamespace = ({ resource }: Pick<Imported, "resource">): ReadonlyArray<string> => {
  const namespace = stringAt(resource, "metadata", "namespace");
  return namespace === undefined ? [] : [shell`-n ${namespace}`];
};

const secretLines = (imported: Imported, shown: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const name = secretName(nameOf(imported));
  const secrets = [...imported.secrets].filter(([key]) => refersTo(name, key, shown));
  const tls = imported.hasNewCertificate
    ? shown.flatMap((one) => stringAt(one, "spec", "networking", "tls", "secretName") ?? []).slice(0, 1)
    : [];
  return [
    ...(secrets.length === 0 ? [] : [
      [
        shell`kubectl create secret generic ${name}`,
        ...inNamespace(imported),
        ...secrets.map(([key, value]) => shell`--from-literal=${key}=${value}`),
      ].join(" "),
      ...(secrets.some(([, value]) => value.includes("://"))
        ? ["special characters of a password in a URL are percent-encoded: @ as %40, / as %2F"]
        : []),
    ]),
    ...tls.map((secret) =>
      [shell`kubectl create secret tls ${secret}`, ...inNamespace(imported), "--cert=FILE --key=FILE"].join(" ")
    ),
  ];
};

const moveLines = (to: string, { before, after, reasons }: OnOther, style: Style): ReadonlyArray<string> => {
  const of = ({ config, server }: Extract<Derived, { readonly _tag: "Generated" }>) => ({
    tree: config.tree,
    family: server.family,
  });
  const changes = before._tag === "Generated" && after._tag === "Generated" ? movedConfig(of(before), of(after)) : [];
  const isSame = changes.length + reasons.length === 0;
  return [
    isSame ? style.good(`the same on ${to}`) : `on ${to}:`,
    ...changes.map((change) => `  ${change}`),
    ...reasons.map((reason) => `  left out: ${reasonText(reason)}`),
  ];
};

/** The resources of the output. */
const shownOf = ({ resource, differences, losesAuth, whole }: Imported, format: "yaml" | "json") =>
  losesAuth
    ? [whole]
    : format === "json" || differences.every(({ kind }) => kind === "added")
    ? [resource]
    : [resource, whole];

/** What would be lost is in a comment beside it: the output can be applied as it is. Never without the authentication of the config. */
const printed = (imported: Imported, format: "yaml" | "json"): string => {
  const [resource = imported.resource, whole] = shownOf(imported, format);
  if (whole === undefined) return importedText(resource, format);
  const comment = writeYaml(whole).trimEnd().split("\n").map((line) => `# ${line}`);
  return `${importedText(resource, format)}# Keeps all of your config:\n${comment.join("\n")}\n`;
};

/** Names of APIs in one line. */
export const importedText = (resource: Imported["resource"], format: "yaml" | "json"): string => {
  if (format === "json") return `${JSON.stringify(resource, null, 2)}\n`;
  const disabled = objectAt(resource, "spec").disabled;
  if (disabled === undefined) return writeYaml(resource);
  const marked = writeYaml(put(resource, ["spec", "disabled"], MARK));
  return marked.replace(`disabled: ${MARK}`, () => `disabled: [${(disabled as ReadonlyArray<string>).join(", ")}]`);
};

const MARK = "in-one-line";
