/** A wire to the API server whose connections can die as behind a broken switch: open for both ends, and no byte arrives. */
export interface Wire {
  readonly url: string;
  /** Every connection of this moment swallows from now on what is sent through it; new ones work. */
  readonly die: () => void;
  /** Connections that are open now and carry what is sent. */
  readonly open: () => number;
  /** Connections made so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export const openWire = (target: string): Wire => {
  const { hostname, port } = new URL(target);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const lines = new Set<{ isDead: boolean; readonly ends: ReadonlyArray<Deno.TcpConn> }>();
  let made = 0;
  const running = new Set<Promise<void>>();
  const carry = async (near: Deno.TcpConn): Promise<void> => {
    let far: Deno.TcpConn;
    try {
      far = await Deno.connect({ hostname, port: Number(port) });
    } catch {
      return near.close();
    }
    const line = { isDead: false, ends: [near, far] };
    lines.add(line);
    await Promise.race([copy(near, far, line), copy(far, near, line)]);
    lines.delete(line);
    for (const end of line.ends) closeQuietly(end);
  };
  const accepting = (async () => {
    for await (const near of listener) {
      made++;
      const item = carry(near).finally(() => running.delete(item));
      running.add(item);
    }
  })();
  return {
    url: `https://127.0.0.1:${listener.addr.port}`,
    die: () => {
      for (const line of lines) line.isDead = true;
    },
    open: () => [...lines].filter(({ isDead }) => !isDead).length,
    connections: () => made,
    close: async () => {
      listener.close();
      for (const { ends } of lines) for (const end of ends) closeQuietly(end);
      await accepting.catch(() => undefined);
      await Promise.all(running);
    },
  };
};

/** Ends when either end is closed; reads on when the wire is dead, so that nobody is held up by a full buffer. */
const copy = async (from: Deno.TcpConn, to: Deno.TcpConn, line: { readonly isDead: boolean }): Promise<void> => {
  const buffer = new Uint8Array(64 * 1024);
  try {
    for (;;) {
      const count = await from.read(buffer);
      if (count === null) return;
      for (let sent = 0; sent < count && !line.isDead;) sent += await to.write(buffer.subarray(sent, count));
    }
  } catch {
    // Reset by one end: the other one is closed too.
  }
};

const closeQuietly = (end: Deno.TcpConn): void => {
  try {
    end.close();
  } catch {
    // Closed already.
  }
};
