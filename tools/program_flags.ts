/** How the program is started wherever it is started: by the tests, in the image, compiled. */

/**
 * Semi-spaces of 8 MiB: 16 take 3 to 10 % less processor time and hold about 20 MiB more just after 400 to 600 resources (4 MiB
 * more half a minute later); 2 take a seventh more. The old space is bounded well above what 5,000 resources need.
 */
export const V8_FLAGS = "--max-semi-space-size=8,--max-old-space-size=256";

/**
 * Settings of glibc's malloc, in bytes but for the first. One arena: the threads of the runtime otherwise keep what they once
 * needed, about 20 MiB. Fixed thresholds: by itself malloc raises both after the first large buffer, and keeps about 5 MiB more;
 * buffers from 4 KiB in maps of their own leave 6 MiB less behind after 600 resources than those from 16 KiB, and take no more
 * time that could be told from chance.
 */
export const MEMORY = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "4096", MALLOC_TRIM_THRESHOLD_: "131072" };

export const UNSTABLE = ["--unstable-net", "--unstable-no-legacy-abort"];

/** It writes no file and starts no program. Files it reads: manifests, kubeconfigs, tokens, certificates, wherever they are. */
export const PERMISSIONS = ["--allow-net", "--allow-env", "--allow-read", "--allow-sys=hostname"];

export const TARGETS: Readonly<Record<string, string>> = {
  amd64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

/** Arguments of Deno; permissions and V8 flags are then part of the file. */
export const compileCommand = (architecture: string, bundle: string, output: string): string[] => [
  "compile",
  "--no-config",
  "--no-prompt",
  ...PERMISSIONS,
  ...UNSTABLE,
  `--v8-flags=${V8_FLAGS}`,
  `--target=${TARGETS[architecture]}`,
  `--output=${output}`,
  bundle,
];
