/** `image`: what the labels of an image say, and its config. `label`: the labels that an author of an image needs. */
import * as Result from "effect/Result";
import { readBase } from "../config/servers/base.ts";
import { serverName, serverOf, SUPPORTED_SERVERS } from "../config/servers/families/families.ts";
import { isObject, type Json, type JsonObject, listAt, stringAt } from "../data/json.ts";
import { configsIn, type ImageConfigs } from "../image/labels.ts";
import { labelsOf } from "../image/manifest.ts";
import { failed, lines, type Outcome } from "./outcome.ts";

/** One architecture of an image, and its config as the registry has it. */
export interface ImageOfPlatform {
  readonly architecture: string;
  readonly config: Json;
}

export interface ImageFacts {
  /** Registry, repository and digest. */
  readonly name: string;
  readonly platforms: ReadonlyArray<ImageOfPlatform>;
}

export interface ImageOptions {
  /** The config to use instead of the default. */
  readonly config: string | undefined;
  readonly format: "text" | "json" | "config";
}

export const imageCommand = ({ name, platforms }: ImageFacts, { config, format }: ImageOptions): Outcome => {
  const found = platforms.map(({ architecture, config: document }) => ({
    architecture,
    configs: configsIn(labelsOf(document), config),
  }));
  const broken = found.find(({ configs }) => Result.isFailure(configs));
  if (broken !== undefined && Result.isFailure(broken.configs)) return failed(broken.configs.failure.message);
  const [first, ...others] = found.map(({ architecture, configs }) => ({
    architecture,
    configs: Result.getOrThrow(configs),
  }));
  const different = others.find(({ configs }) => keyOf(configs) !== keyOf(first?.configs));
  if (different !== undefined) {
    return failed(
      `the configs of the architectures ${first?.architecture} and ${different.architecture} differ, so that a cluster ` +
        "with both cannot use them",
    );
  }
  const configs = first?.configs;
  if (format === "config") return configs === undefined ? failed(NONE) : configText(configs);
  const summary = summaryOf(name, found.map(({ architecture }) => architecture), configs);
  return {
    stdout: format === "json" ? `${JSON.stringify(summary, null, 2)}\n` : table(summary),
    stderr: "",
    code: summary.problems.length === 0 ? 0 : 1,
  };
};

const NONE = "the image has no labels with a config; use --base with its config.yaml, or spec.overrideConfig";

const keyOf = (configs: ImageConfigs | undefined): string =>
  JSON.stringify(configs === undefined ? null : { ...configs, configs: [...configs.configs] });

const configText = ({ configs, chosen }: ImageConfigs): Outcome => {
  const source = configs.get(chosen);
  return source?.kind === "inline"
    ? { stdout: source.text, stderr: "", code: 0 }
    : failed(`${chosen} is in a layer of the image, at ${source?.path}; copy it from there`);
};

/** The JSON form; stable for scripts. */
export interface ImageSummary {
  readonly image: string;
  readonly architectures: ReadonlyArray<string>;
  readonly distribution: string | null;
  readonly serverVersion: string | null;
  readonly configs: ReadonlyArray<string>;
  /** Null if there is none. */
  readonly defaultConfig: string | null;
  /** Provider types of the default config by API; null if it cannot be read here. */
  readonly providers: Readonly<Record<string, ReadonlyArray<string>>> | null;
  /** What stands in the way of a generated config. */
  readonly problems: ReadonlyArray<string>;
}

const summaryOf = (
  image: string,
  architectures: ReadonlyArray<string>,
  configs: ImageConfigs | undefined,
): ImageSummary => {
  const source = configs?.configs.get(configs.chosen);
  const version = configs?.serverVersion;
  const server = version === undefined ? undefined : serverOf(version);
  const read = source?.kind === "inline" && server !== undefined
    ? readBase({ origin: configs?.chosen ?? "", content: source.text }, server)
    : undefined;
  return {
    image,
    architectures,
    distribution: configs?.distribution ?? null,
    serverVersion: version ?? null,
    configs: [...configs?.configs.keys() ?? []],
    defaultConfig: configs?.chosen ?? null,
    providers: read !== undefined && Result.isSuccess(read) ? providersIn(read.success) : null,
    problems: [
      ...(configs === undefined ? [NONE] : []),
      ...(configs !== undefined && version === undefined
        ? [
          "the labels name no version of the server (com.ogx.distribution.version or io.llamastack.config.version, such as " +
          "1.5.0; a whole number is the version of the config's format); set spec.distribution.serverVersion",
        ]
        : []),
      ...(version !== undefined && server === undefined
        ? [`${serverName(version)} is not supported; supported are ${SUPPORTED_SERVERS.join(", ")}`]
        : []),
      ...(read !== undefined && Result.isFailure(read) ? [read.failure.message] : []),
    ],
  };
};

const providersIn = (base: JsonObject): Readonly<Record<string, ReadonlyArray<string>>> => {
  const providers = base.providers ?? {};
  return isObject(providers)
    ? Object.fromEntries(
      Object.keys(providers).toSorted().map((api) => [
        api,
        listAt(providers, api).flatMap((entry) => stringAt(entry, "provider_type") ?? []),
      ]),
    )
    : {};
};

const table = (summary: ImageSummary): string => {
  const { serverVersion, configs, defaultConfig, providers } = summary;
  const rows: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["IMAGE", [summary.image]],
    ["ARCHITECTURES", [summary.architectures.join(", ")]],
    ["DISTRIBUTION", [summary.distribution ?? "-"]],
    ["SERVER", [serverVersion === null ? "-" : serverName(serverVersion)]],
    [
      "CONFIGS",
      configs.length === 0 ? ["-"] : configs.map((name) => name === defaultConfig ? `${name} (default)` : name),
    ],
    [
      "PROVIDERS",
      providers === null ? ["-"] : Object.entries(providers).map(([api, types]) => `${api}: ${types.join(", ")}`),
    ],
    ["PROBLEMS", summary.problems.length === 0 ? ["none"] : summary.problems],
  ];
  return lines(
    rows.flatMap(([title, values]) =>
      values.map((value, index) => `${(index === 0 ? title : "").padEnd(TITLE_WIDTH)}${value}`)
    ),
  );
};

const TITLE_WIDTH = 15;

/** A config for the labels of an image. */
export interface LabelFile {
  /** Without folders. */
  readonly name: string;
  readonly text: string;
}

export interface LabelOptions {
  readonly distribution: string;
  readonly serverVersion: string;
  readonly format: "containerfile" | "crane";
}

/**
 * Lines for a Containerfile, or the arguments of `crane mutate`. Each config must be one that a server of this version
 * accepts.
 */
export const labelCommand = (
  files: ReadonlyArray<LabelFile>,
  { distribution, serverVersion, format }: LabelOptions,
): Outcome => {
  const server = serverOf(serverVersion);
  if (server === undefined) {
    return failed(`${serverVersion} is not a supported version; supported are ${SUPPORTED_SERVERS.join(", ")}`);
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(distribution)) {
    return failed(
      `--name: invalid name ${JSON.stringify(distribution)}; use letters, digits, ".", "_" and "-"`,
    );
  }
  const names = files.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return failed(`there are two files with the name ${twice}`);
  const odd = names.find((name) => !/^[A-Za-z0-9][A-Za-z0-9._-]*\.ya?ml$/.test(name));
  if (odd !== undefined) {
    return failed(`${odd}: a config needs a name of letters, digits, ., _ and - that ends in .yaml`);
  }
  for (const { name, text } of files) {
    const read = readBase({ origin: name, content: text }, server);
    if (Result.isFailure(read)) return failed(read.failure.message);
  }
  const chosen = names.includes("config.yaml") ? "config.yaml" : names[0] ?? "";
  const labels: ReadonlyArray<readonly [string, string]> = [
    ...files.map(({ name, text }) => [`com.ogx.config.${name}`, new TextEncoder().encode(text).toBase64()] as const),
    ["com.ogx.distribution.name", distribution],
    ["com.ogx.distribution.version", serverVersion],
    ["com.ogx.distribution.default-config", chosen],
    ["com.ogx.distribution.configs", names.join(",")],
  ];
  const stdout = format === "containerfile" ? lines(labels.map(([name, value]) => `LABEL ${name}="${value}"`)) : lines([
    "crane mutate \\",
    ...labels.map(([name, value]) => `  --label ${name}=${value} \\`),
    '  "$IMAGE"',
  ]);
  return { stdout, stderr: "", code: 0 };
};
