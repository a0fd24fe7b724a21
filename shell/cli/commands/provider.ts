/** `provider check` and `provider pack`: flags and help; reads folders and wheels for core/command/provider.ts. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { Argument, Command, Flag } from "effect/cli";
import { isImageReference } from "../../../core/data/image_reference.ts";
import { providerCheckCommand, type ProviderFolder, providerPackCommand } from "../../../core/command/provider.ts";
import { providerImageCommand, providerUnread } from "../../../core/command/provider_image.ts";
import { DESCRIPTION_FILE } from "../../../core/config/provider_description.ts";
import { type Wheel, wheelOf } from "../../../core/image/wheel.ts";
import { FileUnreadable, readText } from "../files.ts";
import { optionalText } from "../flags.ts";
import { print } from "../print.ts";
import { imageFacts, registryFlags } from "../registry_image.ts";
import { readWheelParts } from "../wheel_file.ts";
import { FOLDER_DEPTH_MAX } from "../../limits.ts";
import { fileProblem, isAbsent } from "../../runtime/file_problem.ts";

const check = Command.make(
  "check",
  {
    target: Argument.String("FOLDER|IMAGE").pipe(
      Argument.withDescription("What the image has as /lls-provider, or the reference of an image with labels"),
    ),
    serverVersion: optionalText("server-version", "V", "Version of the server that the provider is for (default: any)"),
    ...registryFlags,
  },
  Effect.fn("provider check")(function* ({ target, serverVersion, ...registry }) {
    const options = { serverVersion: Option.getOrUndefined(serverVersion) };
    const folder = target.replace(/(.)\/+$/, "$1");
    const found = yield* Effect.promise(() => Deno.stat(folder).catch(() => undefined));
    if (found?.isFile === true) {
      return yield* new FileUnreadable({
        name: target,
        detail: "it is a file; name the folder that the image has as /lls-provider",
      });
    }
    if (found?.isDirectory === true) return yield* print(providerCheckCommand(yield* folderAt(folder), options));
    if (!isImageReference(target)) {
      return yield* new FileUnreadable({ name: target, detail: "neither a folder nor an image reference" });
    }
    const facts = yield* Effect.result(imageFacts(target, registry));
    if (Result.isSuccess(facts)) return yield* print(providerImageCommand(facts.success, options));
    // Of the flags.
    if (facts.failure._tag === "FileUnreadable") return yield* facts.failure;
    yield* print(providerUnread(target, facts.failure.message));
  }),
).pipe(
  Command.withDescription(
    "Check what an image of an external provider contains, without starting it: the description, the wheels, and what they " +
      "require. The same rules apply when a pod starts; there the provider is also imported. Of an image, only its labels " +
      "are read, with your own credentials. Exit codes: 0 no problem, 1 problems, 2 usage error, 3 the image has no labels " +
      "that say what it contains, or different ones for its architectures.",
  ),
  Command.withShortDescription("Check the content of an image of an external provider"),
  Command.withExamples([
    {
      command: "llama-stack-operator provider check lls-provider --server-version 1.5.0",
      description: "Check a folder for OGX 1.5.0",
    },
    {
      command: "llama-stack-operator provider check registry.example.com/team/gateway-provider:0.1.0",
      description: "Check the labels of an image",
    },
  ]),
);

const pack = Command.make(
  "pack",
  {
    wheels: Argument.String("WHEEL").pipe(
      Argument.withDescription("Wheel of the provider or of a package that it needs"),
      Argument.variadic({ min: 1 }),
    ),
    api: Flag.String("api").pipe(
      Flag.withMetavar("API"),
      Flag.withDescription("API that the provider serves, as config.yaml names it, e.g. inference or vector_io"),
    ),
    providerType: Flag.String("type").pipe(
      Flag.withMetavar("TYPE"),
      Flag.withDescription("Provider type, e.g. remote::mine"),
    ),
    packageName: optionalText(
      "package",
      "NAME",
      "Python package of the provider (default: the one that has a module provider)",
    ),
    vendor: optionalText("vendor", "NAME", "Vendor (default: the author of the package)"),
    base: Flag.String("base").pipe(
      Flag.withMetavar("IMAGE"),
      Flag.withDescription('Base image; it needs /bin/sh, cp, rm and chmod (default "busybox:1.37")'),
      Flag.withDefault("busybox:1.37"),
    ),
    output: Flag.Literals("output", ["containerfile", "description"]).pipe(
      Flag.withAlias("o"),
      Flag.withDescription(`Containerfile, or the ${DESCRIPTION_FILE} that it copies (default "containerfile")`),
      Flag.withDefault("containerfile" as const),
    ),
  },
  Effect.fn("provider pack")(function* ({ wheels, api, providerType, packageName, vendor, base, output }) {
    const packed = yield* Effect.forEach(wheels, (path) => Effect.map(wheelAt(path), (wheel) => ({ path, wheel })));
    yield* print(providerPackCommand(packed, {
      api,
      providerType,
      packageName: Option.getOrUndefined(packageName),
      vendor: Option.getOrUndefined(vendor),
      base,
      format: output,
    }));
  }),
).pipe(
  Command.withDescription(
    "Print the two files from which an image of an external provider is built: the Containerfile, and with -o description the " +
      "description that it copies. Use the same flags for both: labels of the Containerfile repeat the description.",
  ),
  Command.withShortDescription("Print the Containerfile of an image of an external provider"),
  Command.withExamples([{
    command: "llama-stack-operator provider pack dist/*.whl --api inference --type remote::mine > Containerfile",
    description: "Write the Containerfile",
  }]),
);

export const provider = Command.make("provider").pipe(
  Command.withDescription("Build and check images of external providers (docs/external-providers.md)"),
  Command.withShortDescription("Build and check images of external providers"),
  Command.withSubcommands([check, pack]),
);

const wheelAt = (path: string): Effect.Effect<Result.Result<Wheel, string>, FileUnreadable> =>
  Effect.tryPromise({
    try: async () => {
      const file = path.slice(path.lastIndexOf("/") + 1);
      // To open anything else may take forever.
      if (!(await Deno.stat(path)).isFile) return Result.fail(`${file} is not a valid wheel: it is not a file`);
      try {
        return wheelOf(await readWheelParts(path));
      } catch (cause) {
        if (isAbsent(cause) || cause instanceof Deno.errors.PermissionDenied) throw cause;
        return Result.fail(`${file} is not a valid wheel: ${cause instanceof Error ? cause.message : String(cause)}`);
      }
    },
    catch: (cause) => new FileUnreadable({ name: path, detail: fileProblem(cause) }),
  });

/** A folder with the content of `/lls-provider`. */
export const folderAt = Effect.fnUntraced(function* (name: string) {
  const files = yield* Effect.tryPromise({
    try: async () => await filesIn(await Deno.realPath(name), name, ""),
    catch: () => new FileUnreadable({ name, detail: "it is not a folder that can be read" }),
  });
  const folder: ProviderFolder = {
    name,
    description: files.some(({ path, isRegular }) => path === DESCRIPTION_FILE && isRegular)
      ? (yield* readText(`${name}/${DESCRIPTION_FILE}`)).text
      : undefined,
    wheels: yield* Effect.forEach(
      files.filter(({ path }) => /^packages\/[^/]+\.whl$/.test(path)),
      ({ path, isRegular }) =>
        isRegular ? wheelAt(`${name}/${path}`) : Effect.succeed(
          Result.fail(`${path.slice("packages/".length)} is not a valid wheel: it is not a file of the image`),
        ),
    ),
    files: files.filter(({ isRegular }) => isRegular).map(({ path }) => path),
  };
  return folder;
});

interface FoundFile {
  /** Below the folder. */
  readonly path: string;
  /** Whether it is a file, and in the folder: a link may lead to one of this machine, which the image does not have. */
  readonly isRegular: boolean;
}

/** In the order of their names. `root` is the folder without links, `below` ends with `/`. */
const filesIn = async (root: string, name: string, below: string): Promise<ReadonlyArray<FoundFile>> => {
  const entries = await Array.fromAsync(Deno.readDir(`${name}/${below}`));
  const found: FoundFile[] = [];
  for (const path of entries.map((entry) => `${below}${entry.name}`).sort()) {
    const real = await Deno.realPath(`${name}/${path}`).catch(() => "");
    const isInside = real.startsWith(`${root}/`);
    const about = isInside ? await Deno.stat(real) : undefined;
    const isFolder = about?.isDirectory === true && !path.endsWith(".whl");
    if (!isFolder) found.push({ path, isRegular: about?.isFile === true });
    else if (path.split("/").length < FOLDER_DEPTH_MAX) found.push(...await filesIn(root, name, `${path}/`));
  }
  return found;
};
