/** How the program is started wherever it is started: by the tests, in the image, compiled. */

/**
 * Semi-spaces of 8 MiB: 16 take 3 to 10 % less processor time and need about 20 MiB more just after 400 to 600
 * resources (4 MiB more half a minute later); 2 take a seventh more. The old space is bounded well above what 5,000
 * resources need.
 *
 * Because of that bound V8 would assume that memory is scarce and mark the old space again whenever it has grown by a
 * third: 26 times while 1,000 resources are new. Now it may grow to three times the live size, and free memory is
 * released when the work ends, because the operator then collects garbage itself (shell/runtime/rest.ts). One thread
 * scavenges: several wait for each other, which costs more than it saves on such a small heap. Together these settings
 * save a tenth of the program's processor time (docs/measurements.md).
 */
export const V8_FLAGS = [
  "--max-semi-space-size=8",
  "--max-old-space-size=256",
  "--heap-growing-percent=200",
  "--no-parallel-scavenge",
  "--expose-gc",
].join(",");

/**
 * Environment of the program when started with jemalloc, given its path. The allocator of glibc retains between 10 and
 * 20 MiB of the memory that 1,000 new resources needed temporarily, because it only releases memory at the end of the
 * heap; settings that make it retain less take twice the system time of jemalloc. One arena, because one thread does
 * most of the work; free memory is returned to the system after a second, without waiting for the next call.
 */
export const allocatorEnv = (library: string): Readonly<Record<string, string>> => ({
  LD_PRELOAD: library,
  MALLOC_CONF: "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true",
});

/**
 * Environment of the runtime: no root certificates, whenever they are read (shell/kubernetes/trusted_authorities.ts), and no question for a
 * newer version of the runtime, which reads them.
 */
export const RUNTIME_ENV: Readonly<Record<string, string>> = { DENO_TLS_CA_STORE: "", DENO_NO_UPDATE_CHECK: "1" };

/** Where the image has it. */
export const ALLOCATOR_IN_IMAGE = "/usr/lib/libjemalloc.so.2";

/** What Deno's runtime of compiled programs implements: it ignores `no-legacy-abort` (2.9.6), which no request here needs. */
export const UNSTABLE = ["--unstable-net"];

/**
 * It writes no file. The commands start the credential plugin that a kubeconfig names, as kubectl does; `run` gives that permission up
 * before anything else. Files it reads: manifests, kubeconfigs, tokens, certificates, wherever they are. */
export const PERMISSIONS = ["--allow-net", "--allow-env", "--allow-read", "--allow-run", "--allow-sys=hostname"];

export const TARGETS: Readonly<Record<string, string>> = {
  amd64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

export interface CompileWishes {
  /** As Deno names it (TARGETS). */
  readonly target: string;
  /** The program as one file. */
  readonly source: string;
  readonly output: string;
  readonly v8Flags?: string;
}

/**
 * Arguments of Deno; permissions and V8 flags are then part of the file.
 *
 * Without a cache of compiled code: it would be a file with a known name in a temporary folder, whose content V8 executes
 * unchecked, so whoever can write there could run code as the user. It would save about a fifth of the time of a short
 * command; the operator needs less memory without (docs/measurements.md).
 */
export const compileCommand = ({ target, source, output, v8Flags = V8_FLAGS }: CompileWishes): string[] => [
  "compile",
  "--quiet",
  "--no-config",
  "--no-prompt",
  "--no-code-cache",
  ...PERMISSIONS,
  ...UNSTABLE,
  `--v8-flags=${v8Flags}`,
  `--target=${target}`,
  `--output=${output}`,
  source,
];
