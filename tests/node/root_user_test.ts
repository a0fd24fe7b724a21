/** Servers that run as root, and data that belongs to root: what a former server of another user leaves. */
import { strictEqual } from "node:assert/strict";
import { type JsonObject, put, stringAt } from "../../core/data/json.ts";
import { assertState, storeState, withModels } from "../server/stored_state.ts";
import { MODELS_ENDPOINT, startModelService } from "./model_service.ts";
import { inPlace, type Place } from "./place.ts";
import { condition, podName, podsOf, resourceWhen, served, whenReady, whenReplaced, word } from "./served.ts";

const resource = (securityContext?: JsonObject): JsonObject => {
  const spec = withModels(
    { distribution: { name: "starter" }, workload: { storage: { size: "1Gi" } } },
    MODELS_ENDPOINT,
  );
  return securityContext === undefined
    ? spec
    : put(spec, ["workload", "overrides", "securityContext"], securityContext);
};

const edited = async (place: Place, name: string, securityContext?: JsonObject): Promise<void> => {
  const old = (await podsOf(place, name)).map(podName);
  await place.resource(name, resource(securityContext));
  await whenReplaced(place, name, old);
  await whenReady(place, name);
};

Deno.test("a server runs as root where the operator allows it, and its private data passes to user 1001 and back", () =>
  inPlace("root", async (place) => {
    await using _vllm = await startModelService(place);
    await place.resource("former", resource({ runAsUser: 0 }));
    await whenReady(place, "former");
    strictEqual((await place.run("former", "id", "-u")).trim(), "0");
    const stack = served(place, "former");
    const state = await storeState(stack);
    // As strict as its owner can make it.
    await place.run("former", "chmod", "--recursive", "go=", DATA);
    await edited(place, "former");
    strictEqual((await place.run("former", "id", "-u")).trim(), "1001");
    // kubelet changed the group and its rights, and left the owner.
    strictEqual((await place.run("former", "stat", "--format=%u:%g %A", DATA)).trim(), "0:1001 drwxrws---");
    await assertState(stack, state);
    await edited(place, "former", { runAsUser: 0, fsGroup: 1001 });
    strictEqual((await place.run("former", "id", "-u")).trim(), "0");
    await assertState(stack, state);
  }));

Deno.test("data of root on a volume that Kubernetes does not hand over keeps user 1001 out, until the server runs as root", () =>
  inPlace("owned", async (place) => {
    await using _vllm = await startModelService(place);
    const folder = await Deno.makeTempDir();
    await Deno.chmod(folder, 0o700);
    await hostPathFor(place, "closed-pvc", folder);
    await place.resource("closed", put(resource(), ["workload", "probes"], { startupSeconds: 30 }));
    await resourceWhen(
      place,
      "closed",
      "failed",
      (object) =>
        word(object, "Available") === "False" &&
        /it may not write a file or folder that the log names/.test(
          stringAt(condition(object, "Available"), "message") ?? "",
        ),
    );
    await edited(place, "closed", { runAsUser: 0 });
    await assertState(served(place, "closed"), await storeState(served(place, "closed")));
    const { uid, mode } = await Deno.stat(folder);
    strictEqual(`${uid} ${((mode ?? 0) & 0o777).toString(8)}`, "0 700");
  }));

/** As with NFS, kubelet changes neither owner nor group of a hostPath. */
const hostPathFor = (place: Place, claim: string, path: string): Promise<void> =>
  place.create({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: claim },
    spec: {
      storageClassName: "",
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path },
      claimRef: { namespace: place.namespace, name: claim },
    },
  });

/** Where the volume is mounted. */
const DATA = "/.llama";
