import { deepStrictEqual, rejects } from "node:assert/strict";
import { besideOthers, type ServerSlot, takeServerSlot } from "../../tools/server/server_slots.ts";
import { aMoment } from "../waiting.ts";

const withParallel = async (value: string, use: () => Promise<void>): Promise<void> => {
  const before = Deno.env.get("LLAMA_STACK_OPERATOR_PARALLEL");
  Deno.env.set("LLAMA_STACK_OPERATOR_PARALLEL", value);
  try {
    await use();
  } finally {
    if (before === undefined) Deno.env.delete("LLAMA_STACK_OPERATOR_PARALLEL");
    else Deno.env.set("LLAMA_STACK_OPERATOR_PARALLEL", before);
  }
};

Deno.test("takeServerSlot() admits the maximum, and the next one when a slot is released", () =>
  withParallel("2", async () => {
    const seen: string[] = [];
    const enter = (name: string) =>
      besideOthers(async () => {
        const turn = await takeServerSlot();
        seen.push(name);
        return turn;
      });
    const [first, second] = [await enter("first"), await enter("second")];
    const third = enter("third");
    await aMoment();
    deepStrictEqual(seen, ["first", "second"]);
    first.giveBack();
    first.giveBack();
    const fourth = enter("fourth");
    await third;
    await aMoment();
    deepStrictEqual(seen, ["first", "second", "third"]);
    second.giveBack();
    for (const turn of [await third, await fourth]) turn.giveBack();
    const last = await enter("last");
    last.giveBack();
  }));

Deno.test("takeServerSlot() rejects an invalid limit", () =>
  withParallel("many", () => rejects(takeServerSlot(), /LLAMA_STACK_OPERATOR_PARALLEL/)));

Deno.test("takeServerSlot() refuses a server more than can run at once, until one is stopped", () =>
  withParallel("2", async () => {
    const turns = [await takeServerSlot(), await takeServerSlot()];
    await rejects(takeServerSlot(), /all 2 servers .* Stop one of them before/);
    await rejects(besideOthers(takeServerSlot), /all 2 servers .* Stop one of them before/);
    turns.pop()?.giveBack();
    turns.push(await takeServerSlot());
    for (const turn of turns) turn.giveBack();
  }));

Deno.test("takeServerSlot() refuses a second server to one of several jobs side by side, even while another could run", () =>
  withParallel("3", async () => {
    const slots = await besideOthers(async (): Promise<ServerSlot[]> => {
      const first = await takeServerSlot();
      await rejects(takeServerSlot(), /second server: .* Stop its first server before/);
      await rejects(besideOthers(takeServerSlot), /second server: .* Stop its first server before/);
      first.giveBack();
      return [await takeServerSlot()];
    });
    const others = await Promise.all([besideOthers(takeServerSlot), besideOthers(takeServerSlot)]);
    for (const turn of [...slots, ...others]) turn.giveBack();
  }));
