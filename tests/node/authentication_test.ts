/** Callers of a server show the tokens that the cluster gave them, which the server has checked by the real API server. */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { type JsonObject, stringAt } from "../../core/data/json.ts";
import { withModels } from "../server/stored_state.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { condition, podName, podsOf, resourceWhen, served, whenReady, whenReplaced, word } from "./served.ts";

for (const [name, server] of [["starter", "llama-stack 0.7.3"], ["ogx-starter", "ogx 1.5.0"]] as const) {
  Deno.test(`${name} with spec.auth.kubernetes knows callers by their tokens, and one rollout each turns it off and on`, () =>
    inPlace(`auth-${name}`, async (place) => {
      await using _models = await startModelService(place);
      const open = withModels({ distribution: { name } }, MODELS_ENDPOINT);
      const closed: JsonObject = {
        ...open,
        auth: {
          kubernetes: {},
          accessPolicy: [{
            permit: { actions: ["create", "read", "update", "delete"] },
            when: [`user with system:serviceaccount:${place.namespace}:caller in roles`],
          }],
        },
      };
      await place.resource("guarded", closed);
      const [caller, guest] = [await tokenOf(place, "caller"), await tokenOf(place, "guest")];
      const ready = await resourceWhen(place, "guarded", "asked", (object) => word(object, "HealthCheck") === "True");
      match(stringAt(condition(ready, "HealthCheck"), "message") ?? "", /not listed: with spec\.auth/);
      await whenReady(place, "guarded");
      const stack = served(place, "guarded", { server });
      const ask = async (token?: string): Promise<readonly [number, number | undefined]> => {
        const { status, body } = await stack.get(
          "/v1/models",
          token === undefined ? {} : { authorization: `Bearer ${token}` },
        );
        return [status, status === 200 ? body.data.length > 0 ? 1 : 0 : undefined];
      };
      deepStrictEqual([await ask(), await ask("wrong"), await ask(guest), await ask(caller)], [
        [401, undefined],
        [401, undefined],
        // It is known, and may see nothing.
        [200, 0],
        [200, 1],
      ]);
      const revisions = async (): Promise<number> =>
        (await place.kubectl("get", "replicasets", "-l", "app.kubernetes.io/instance=guarded", "-o", "name"))
          .trim().split("\n").length;
      strictEqual(await revisions(), 1);
      const edit = async (spec: JsonObject) => {
        const old = (await podsOf(place, "guarded")).map(podName);
        await place.resource("guarded", spec);
        await whenReplaced(place, "guarded", old);
        await whenReady(place, "guarded");
      };
      await edit(open);
      deepStrictEqual([await ask(), await revisions()], [[200, 1], 2]);
      await edit(closed);
      // The Deployment goes back to the revision that it had.
      deepStrictEqual([await ask(), await ask(caller), await revisions()], [[401, undefined], [200, 1], 2]);
    }));
}

const tokenOf = async (place: Place, account: string): Promise<string> => {
  await place.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account } });
  return (await place.kubectl("create", "token", account)).trim();
};
