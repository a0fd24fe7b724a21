/** The distributions of the published packages that have no name in resources: nobody publishes their images. */
import { serverOf } from "../../core/config/servers/families/families.ts";
import { shippedBase } from "../bases.ts";
import type { Backends } from "./backends.ts";
import { bootCell, type Cell } from "./cell.ts";
import type { BootedShipped } from "./results.ts";

const FOLDERS = ["ci-tests", "dell", "nvidia", "oci", "open-benchmark", "starter-gpu", "watsonx"];

/** Variables that the documents read without a default; no service is called. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  INFERENCE_MODEL: "org/model",
  SAFETY_MODEL: "org/guard",
  NVIDIA_API_KEY: "unused",
  OCI_COMPARTMENT_OCID: "ocid1.compartment",
  OCI_AUTH_TYPE: "config_file",
  OCI_CLI_PROFILE: "DEFAULT",
  OCI_CONFIG_FILE_PATH: "/nowhere",
  WATSONX_API_KEY: "unused",
  WATSONX_PROJECT_ID: "unused",
  DEH_URL: "http://127.0.0.1:9",
  DEH_SAFETY_URL: "http://127.0.0.1:9",
  CHROMA_URL: "http://127.0.0.1:9",
};

export const bootShipped = async (
  server: string,
  backends: Backends,
  only: string | undefined,
): Promise<ReadonlyArray<Omit<BootedShipped, "date">>> => {
  const version = server.split(" ")[1] ?? "";
  const minor = version.split(".").slice(0, 2).join(".");
  const rows: Array<Omit<BootedShipped, "date">> = [];
  for (const distribution of FOLDERS.filter((name) => only === undefined || name === only)) {
    const base = await shippedBase(distribution, version);
    if (base === undefined) continue;
    const own = { base: { origin: `${distribution} of ${server}`, content: base.text }, env: ENVIRONMENT };
    const cell: Cell = { minor, distribution, storage: "sqlite" };
    rows.push({ minor, distribution, server, fixes: base.fixes, outcome: await bootCell(cell, backends, own) });
  }
  return rows;
};

/** The newest installable server of each family. */
export const newestOfFamilies = (servers: readonly string[]): readonly string[] => {
  const familyOf = (server: string) => serverOf(server.split(" ")[1] ?? "")?.family;
  return servers.filter((server, index) =>
    !servers.slice(index + 1).some((later) => familyOf(later) === familyOf(server))
  );
};
