/** Sets the stage: the definition, the operator, the sample with its stand-ins. */
import { customResourceDefinition } from "../../core/api/crd.ts";
import { API_VERSION } from "../../core/api/v1alpha2.ts";
import { type JsonObject, listAt, member, objectAt, stringAt } from "../../core/data/json.ts";
import { OPERATOR_VERSION } from "../../core/operator/version.ts";
import type { BackgroundProcess } from "../cluster/background_process.ts";
import { type Api, nameOf, namespaceOf } from "./api.ts";
import { type OperatorWishes, startOperatorProcess } from "./operator_process.ts";
import type { UpCluster } from "./cluster.ts";
import { modelServersOf, type Sample, standIns } from "./sample.ts";
import type { Traces } from "./traces.ts";

/** One line for people. */
export type Print = (line: string) => void;

/** A definition that is there is never changed, and none is ever removed: other people's resources hang on it. */
export const installCrd = async (api: Api, print: Print): Promise<void> => {
  const wanted = customResourceDefinition() as unknown as JsonObject;
  const collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const path = `${collection}/${nameOf(wanted)}`;
  const isNew = await api.get(path) === undefined && await api.create(collection, wanted) !== false;
  for (let looks = 0; looks < ESTABLISHED_LOOKS; looks++) {
    const found = await api.get(path);
    const served = listAt(found, "spec", "versions").some((version) =>
      stringAt(version, "name") === API_VERSION.split("/")[1] && member(version, "served") === true
    );
    if (!served) {
      throw new Error(
        `The ${
          nameOf(wanted)
        } definition of this cluster does not serve ${API_VERSION}, and an existing definition is ` +
          "never changed by this command; update it with `task cli crds | kubectl apply --server-side -f -`",
      );
    }
    const isEstablished = listAt(found, "status", "conditions").some((condition) =>
      stringAt(condition, "type") === "Established" && stringAt(condition, "status") === "True"
    );
    // Discovery lags a little behind the condition.
    if (isEstablished && await api.get(`/apis/${API_VERSION}`) !== undefined) {
      print(
        `CustomResourceDefinition ${nameOf(wanted)} ${isNew ? "installed" : "already exists and is left unchanged"}`,
      );
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`CustomResourceDefinition ${nameOf(wanted)} is not established`);
};

/** 20 s. */
const ESTABLISHED_LOOKS = 400;

/** None where another one works already: two with different keys would restart each other's pods. */
export const operatorFor = async (
  api: Api,
  wishes: OperatorWishes,
  print: Print,
): Promise<BackgroundProcess | undefined> => {
  const holder = wishes.cluster.isOurs ? undefined : await leaseHolder(api);
  if (holder !== undefined) {
    print(`operator ${holder} is already running in this cluster; no other one is started`);
    return undefined;
  }
  const operator = await startOperatorProcess(wishes);
  print(`operator ${OPERATOR_VERSION} started, log in ${wishes.logFile}`);
  return operator;
};

const leaseHolder = async (api: Api): Promise<string | undefined> => {
  const query = new URLSearchParams({ fieldSelector: "metadata.name=llama-stack-operator" });
  const leases = await api.get(`/apis/coordination.k8s.io/v1/leases?${query}`).catch(() => undefined);
  const live = listAt(leases, "items").find((lease) => {
    const renewed = Date.parse(stringAt(lease, "spec", "renewTime") ?? "");
    return Date.now() - renewed < LEASE_LIVES_MS;
  });
  return live === undefined ? undefined : stringAt(live, "spec", "holderIdentity") || undefined;
};

/** Four times what an operator promises; clocks differ. */
const LEASE_LIVES_MS = 60_000;

/** Creates the stand-in under each name where a resource expects a model server. */
export const offerModels = async (
  resources: ReadonlyArray<JsonObject>,
  usual: string,
  at: NonNullable<UpCluster["modelServer"]>,
  traces: Traces,
  print: Print,
): Promise<void> => {
  for (const resource of resources) {
    const namespace = namespaceOf(resource) ?? usual;
    for (const [name, port] of modelServersOf(resource)) {
      const service = { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port }] } };
      if (!await traces.make(service, namespace)) continue;
      await traces.make({
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name, labels: { "kubernetes.io/service-name": name } },
        addressType: "IPv4",
        endpoints: [{ addresses: [at.address] }],
        ports: [{ name: "", port: at.port }],
      }, namespace);
      print(`Service ${name} created for this run, with a stand-in for a model server that echoes its input`);
    }
  }
};

/** All objects of a file; an existing resource is left to its owner. */
export const applySample = async (
  sample: Sample,
  resources: ReadonlyArray<JsonObject>,
  usual: string,
  traces: Traces,
  removes: boolean,
  print: Print,
): Promise<void> => {
  for (const other of sample.others) {
    const isNew = await traces.make(other, usual);
    print(`${other.kind} ${nameOf(other)} ${isNew ? "applied" : "already exists and is left unchanged"}`);
  }
  for (const resource of resources) {
    const namespace = namespaceOf(resource) ?? usual;
    for (const secret of await standIns(resource)) {
      if (!await traces.make(secret, namespace)) continue;
      const keys = Object.keys(objectAt(secret, "stringData")).join(", ");
      print(`Secret ${nameOf(secret)} created for this run, with placeholder values for ${keys}`);
    }
    // A claim survives its resource on purpose; one created by this run is removed with the run.
    if (removes) await traces.expect(`/api/v1/namespaces/${namespace}/persistentvolumeclaims/${nameOf(resource)}-pvc`);
    if (!await traces.make(resource, namespace)) {
      throw new Error(
        `${resource.kind} ${nameOf(resource)} already exists in namespace ${namespace}; it is left unchanged`,
      );
    }
    print(`${resource.kind} ${nameOf(resource)} applied in namespace ${namespace}`);
  }
};
