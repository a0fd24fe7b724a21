/** Hands every connection of a listener on to another place, until it is disposed of. */
export const relay = (listener: Deno.Listener, connect: () => Promise<Deno.Conn>): AsyncDisposable => {
  const open = new Set<Deno.Conn>();
  const serve = async (from: Deno.Conn) => {
    const onward = await connect().catch(() => undefined);
    if (onward === undefined) return from.close();
    open.add(from).add(onward);
    // Either side may end first, by a reset too; that is the other side's affair.
    await Promise.allSettled([from.readable.pipeTo(onward.writable), onward.readable.pipeTo(from.writable)]);
    for (const item of [from, onward]) {
      open.delete(item);
      close(item);
    }
  };
  const connections: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) connections.push(serve(connection));
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      for (const conn of open) close(conn);
      await Promise.all(connections);
    },
  };
};

const close = (connection: Deno.Conn): void => {
  try {
    connection.close();
  } catch {
    // The end of its streams has closed it.
  }
};
