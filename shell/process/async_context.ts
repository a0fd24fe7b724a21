/**
 * Keeps memory bounded; import this before anything of effect.
 *
 * effect 4.1.0 creates an AsyncResource of node:async_hooks each time a fiber waits. On Deno 2.9.6 it holds the one
 * that was current before, so they form a chain that grows by about 460 bytes for each wait as long as a fiber lives: a
 * heap of 28 MiB was full after some 4,000 reconciliations. Nothing here reads such a context; without the class effect
 * works without it.
 */
import process from "node:process";

const { getBuiltinModule } = process;
process.getBuiltinModule =
  ((name: string) =>
    name === "node:async_hooks" ? undefined : getBuiltinModule.call(process, name)) as typeof getBuiltinModule;
