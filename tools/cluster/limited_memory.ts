/** A control group with a bound of memory, as the kubelet makes one for a container; needs root on Linux. */

export interface LimitedMemory {
  /** A process that writes its number there is bound from then on. */
  readonly processes: string;
  /** How often the kernel killed a process of the group. */
  readonly killed: () => Promise<number>;
  readonly remove: () => Promise<void>;
}

export const limitedMemory = async (bytes: number): Promise<LimitedMemory> => {
  const name = `llama-stack-operator-${crypto.randomUUID().slice(0, 8)}`;
  const former = await exists("/sys/fs/cgroup/memory");
  const folder = former ? `/sys/fs/cgroup/memory/${name}` : `/sys/fs/cgroup/${name}`;
  if (!former) await Deno.writeTextFile("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/${former ? "memory.limit_in_bytes" : "memory.max"}`, String(bytes));
  const events = `${folder}/${former ? "memory.oom_control" : "memory.events"}`;
  return {
    processes: `${folder}/cgroup.procs`,
    killed: async () => Number(/^oom_kill (\d+)$/m.exec(await Deno.readTextFile(events))?.[1] ?? 0),
    // A cgroup is removed by rmdir only; its files cannot be deleted.
    remove: async () => void await new Deno.Command("rmdir", { args: [folder] }).output(),
  };
};

const exists = async (path: string): Promise<boolean> => {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false;
  }
};
