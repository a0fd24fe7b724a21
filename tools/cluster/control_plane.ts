import { join } from "node:path";
import { installControlPlane, missingPrograms } from "../install/control_plane.ts";
import type { ControlPlaneProgram } from "../install/go_programs.ts";
import { ended } from "../install/run_program.ts";
import { type BackgroundProcess, lastLines, startInBackground, waitUntilReady } from "./background_process.ts";
import { freePorts } from "./free_ports.ts";
import { startSimulatedNode } from "./simulated_node.ts";

/** A real API server on loopback, with its own etcd and nothing in it. */
export interface ControlPlane {
  readonly url: string;
  /** Bearer token of a member of system:masters. */
  readonly adminToken: string;
  readonly caFile: string;
  readonly caPem: string;
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string;
  /** The kubectl of this version, for machines without one. */
  readonly kubectlPath: string;
  /** `path` starts with a slash; the token and the right certificate authority are added. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Standard output; fails with the output of kubectl if it exits with a code other than 0. */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** Stops the API server and starts it again on the same port and etcd; for `downMs` in between it does not answer. */
  restartApiServer(downMs?: number): Promise<void>;
  /** As `restartApiServer`, with a certificate of another CA, which is then in `caFile` and the kubeconfig. */
  renewAuthority(): Promise<void>;
  /** Copies the data of etcd; the API server does not answer for some seconds. */
  saveDatabase(): Promise<void>;
  /** Puts the copy in place of the database, as a restore from a backup does. */
  restoreDatabase(): Promise<void>;
  /** Finished requests so far, oldest first, as the API server's audit log has them; needs the option `audit`. */
  auditLog(): Promise<readonly AuditEvent[]>;
  /** Of every process that it has started. */
  readonly pids: () => readonly number[];
  stop(): Promise<void>;
}

/** What of an `audit.k8s.io/v1` Event is looked at here. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

export interface ControlPlaneOptions {
  /**
   * Also controllers, one simulated node and volumes: pods become ready. "Scheduled": with the scheduler. "Bound": every
   * pod goes to the node, with one program less to install.
   */
  readonly node?: "Scheduled" | "Bound";
  /** Also controllers and scheduler, for nodes that join by themselves. */
  readonly controllers?: boolean;
  /** The address of the Service `kubernetes`; a proxy must forward it to loopback, where the server listens. */
  readonly addressForPods?: string;
  /** Every request is recorded: see `auditLog` of the control plane. */
  readonly audit?: boolean;
  /** Names of containers whose pods are not simulated: somebody else runs them. */
  readonly podsOfOthers?: readonly string[];
  /** Socket of a proxy through which the API server connects to Services, whose addresses nothing else routes. */
  readonly serviceProxy?: string;
}

export const startControlPlane = async (
  {
    node,
    controllers = node !== undefined,
    audit = false,
    addressForPods,
    podsOfOthers = [],
    serviceProxy,
  }: ControlPlaneOptions = {},
): Promise<ControlPlane> => {
  const more = node === "Bound" ? WITHOUT_SCHEDULER : controllers ? CONTROLLERS : [];
  const programs = await installControlPlane([...API_PROGRAMS, ...more]);
  const folder = await Deno.makeTempDir({ prefix: "llama-stack-operator-control-plane-" });
  const started: BackgroundProcess[] = [];
  let client: Deno.HttpClient | undefined;

  const start = async (name: ControlPlaneProgram, path: string, flags: readonly string[]) => {
    const process = await startInBackground({
      command: [path, ...flags],
      env: { HOME: folder },
      logFile: join(folder, `${name}.log`),
      // Its database alone has 120 MB.
      scratch: folder,
      // The API server waits for open watches before it exits.
      stopWithinMs: 20_000,
    });
    started.push(process);
    return process;
  };
  // Last started, first stopped: the API server cannot end cleanly once etcd is gone.
  let leaveNode = () => Promise.resolve();
  const stopAll = async () => {
    await leaveNode();
    client?.close();
    for (const process of started.reverse()) await process.stop();
  };

  try {
    const [etcdPort, etcdPeerPort, apiPort] = freePorts(3) as [number, number, number];
    const url = `https://127.0.0.1:${apiPort}`;
    const adminToken = crypto.randomUUID();
    await Deno.writeTextFile(join(folder, "tokens.csv"), `${adminToken},admin,admin,"system:masters"\n`);
    const signing = await newSigningKey();
    await Deno.writeTextFile(join(folder, "service_accounts.key"), signing.privatePem);
    await Deno.writeTextFile(join(folder, "service_accounts.pub"), signing.publicPem);

    const startEtcd = () => start("etcd", programs.etcd, etcdFlags(folder, etcdPort, etcdPeerPort));
    let etcd = await startEtcd();
    const startApiServer = async () =>
      await start("kube-apiserver", programs["kube-apiserver"], [
        ...apiServerFlags(folder, apiPort, etcdPort),
        // Pods are refused until their service account exists, and nothing makes it without the controllers.
        ...(controllers ? [] : ["--disable-admission-plugins=ServiceAccount"]),
        `--advertise-address=${addressForPods ?? UNREACHABLE}`,
        ...(audit ? await auditFlags(folder) : []),
        ...(serviceProxy === undefined ? [] : await proxyFlags(folder, serviceProxy)),
      ]);
    let apiServer = await startApiServer();

    const caFile = join(folder, "ca.crt");
    const kubeconfig = join(folder, "kubeconfig");
    let caPem = "";
    const answers = async (path: string) => {
      if (client === undefined) {
        const written = await authorityOf(join(folder, "apiserver.crt"));
        if (written === undefined) return false;
        caPem = written;
        // As the operator speaks: over HTTP/2 longer bodies take 45 ms more.
        client = Deno.createHttpClient({ caCerts: [caPem], http2: false });
      }
      return await isOk(`${url}${path}`, { client, headers: { authorization: `Bearer ${adminToken}` } });
    };
    // The default namespace is made after the server calls itself ready.
    for (const path of ["/readyz", "/api/v1/namespaces/default"]) {
      if (await waitUntilReady(apiServer, () => answers(path), START_WITHIN_MS)) continue;
      throw new Error(await whyNotReady(folder, started));
    }
    const publishAuthority = async () => {
      await Deno.writeTextFile(caFile, caPem);
      await Deno.writeTextFile(kubeconfig, kubeconfigText(url, caPem, adminToken));
    };
    await publishAuthority();

    const withDatabaseAtRest = async (work: () => Promise<void>) => {
      // Killed: it would wait for its watches, and an outage shall be short.
      for (const process of [apiServer, etcd]) {
        Deno.kill(process.pid, "SIGKILL");
        await process.stop();
      }
      await work();
      etcd = await startEtcd();
      apiServer = await startApiServer();
      if (await waitUntilReady(apiServer, () => answers("/readyz"), START_WITHIN_MS)) return;
      throw new Error(await whyNotReady(folder, started));
    };
    const restarted = async (between: () => Promise<void>) => {
      await apiServer.stop();
      await between();
      apiServer = await startApiServer();
      if (await waitUntilReady(apiServer, () => answers("/readyz"), START_WITHIN_MS)) return;
      throw new Error(await whyNotReady(folder, started));
    };
    const controlPlane: ControlPlane = {
      url,
      adminToken,
      caFile,
      get caPem() {
        return caPem;
      },
      kubeconfig,
      kubectlPath: programs.kubectl,
      fetch: (path, init = {}) => {
        const headers = new Headers(init.headers);
        headers.set("authorization", `Bearer ${adminToken}`);
        return fetch(`${url}${path}`, { ...init, headers, ...(client === undefined ? {} : { client }) });
      },
      kubectl: (args, stdin) => runKubectl(programs.kubectl, folder, kubeconfig, args, stdin),
      restartApiServer: (downMs = 0) => restarted(() => new Promise((resolve) => setTimeout(resolve, downMs))),
      renewAuthority: async () => {
        await restarted(async () => {
          client?.close();
          client = undefined;
          for (const file of ["apiserver.crt", "apiserver.key"]) await Deno.remove(join(folder, file));
        });
        await publishAuthority();
      },
      saveDatabase: () => withDatabaseAtRest(() => copied(join(folder, "etcd"), join(folder, "etcd-copy"))),
      restoreDatabase: () => withDatabaseAtRest(() => copied(join(folder, "etcd-copy"), join(folder, "etcd"))),
      auditLog: async () =>
        (await Deno.readTextFile(join(folder, AUDIT_LOG))).split("\n").filter((line) => line !== "")
          .map((line): AuditEvent => JSON.parse(line)),
      pids: () => started.map(({ pid }) => pid),
      stop: async () => {
        await stopAll();
        await Deno.remove(folder, { recursive: true });
      },
    };
    for (const name of more) await start(name, programs[name], controllerFlags(name, folder, kubeconfig));
    if (node !== undefined) {
      leaveNode = await startSimulatedNode(controlPlane, { binds: node === "Bound", except: podsOfOthers });
    }
    return controlPlane;
  } catch (cause) {
    // The directory is kept: its logs are needed to find the cause.
    await stopAll();
    throw cause;
  }
};

const copied = async (from: string, to: string): Promise<void> => {
  await Deno.remove(to, { recursive: true }).catch(() => {});
  const { success, stderr } = await new Deno.Command("cp", { args: ["-r", from, to] }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
};

/** All parts of a control plane whose node is simulated; by default without the scheduler. */
export const installSimulatedCluster = async (
  { node = "Bound", signal }: { readonly node?: "Scheduled" | "Bound"; readonly signal?: AbortSignal } = {},
): Promise<void> => {
  await installControlPlane([...API_PROGRAMS, ...(node === "Bound" ? WITHOUT_SCHEDULER : CONTROLLERS)], signal);
};

/** Whether `installSimulatedCluster` has nothing to do. */
export const isSimulatedClusterInstalled = (): boolean =>
  missingPrograms([...API_PROGRAMS, ...WITHOUT_SCHEDULER]).length === 0;

const API_PROGRAMS = ["etcd", "kube-apiserver", "kubectl"] as const;
const CONTROLLERS = ["kube-controller-manager", "kube-scheduler"] as const;
const WITHOUT_SCHEDULER = ["kube-controller-manager"] as const;

/** Addresses of Services; a /24 would be full after 254 of them. */
export const SERVICE_RANGE = "10.0.0.0/16";

/**
 * Advertised where no pod has to reach the API server, which would otherwise look for an interface and find none on a
 * machine without a network. Of a range for documentation (RFC 5737): a loopback address is no endpoint.
 */
const UNREACHABLE = "192.0.2.1";

/** 3 s on an idle machine with two cores; the rest is for a machine that compiles at the same time. */
const START_WITHIN_MS = 180_000;

const etcdFlags = (folder: string, clientPort: number, peerPort: number): string[] => [
  `--data-dir=${join(folder, "etcd")}`,
  `--listen-client-urls=http://127.0.0.1:${clientPort}`,
  `--advertise-client-urls=http://127.0.0.1:${clientPort}`,
  `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
  `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
  "--unsafe-no-fsync",
  "--log-level=error",
];

const apiServerFlags = (folder: string, port: number, etcdPort: number): string[] => [
  `--etcd-servers=http://127.0.0.1:${etcdPort}`,
  "--bind-address=127.0.0.1",
  `--secure-port=${port}`,
  // No certificate is given, so the server makes an authority and a leaf for this address here.
  `--cert-dir=${folder}`,
  `--token-auth-file=${join(folder, "tokens.csv")}`,
  "--authorization-mode=RBAC",
  "--service-account-issuer=https://kubernetes.default.svc",
  `--service-account-key-file=${join(folder, "service_accounts.pub")}`,
  `--service-account-signing-key-file=${join(folder, "service_accounts.key")}`,
  `--service-cluster-ip-range=${SERVICE_RANGE}`,
  "--allow-privileged",
];

const AUDIT_LOG = "audit.log";

const auditFlags = async (folder: string): Promise<string[]> => {
  const policy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  };
  const file = join(folder, "audit_policy.json");
  await Deno.writeTextFile(file, JSON.stringify(policy));
  return [`--audit-policy-file=${file}`, `--audit-log-path=${join(folder, AUDIT_LOG)}`];
};

/** Only for what goes into the cluster, not for etcd. */
const proxyFlags = async (folder: string, udsName: string): Promise<string[]> => {
  const connection = { proxyProtocol: "HTTPConnect", transport: { uds: { udsName } } };
  const selection = {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [{ name: "cluster", connection }],
  };
  const file = join(folder, "egress_selection.json");
  await Deno.writeTextFile(file, JSON.stringify(selection));
  return [`--egress-selector-config-file=${file}`];
};

const controllerFlags = (
  name: typeof CONTROLLERS[number],
  folder: string,
  kubeconfig: string,
): string[] => [
  `--kubeconfig=${kubeconfig}`,
  "--leader-elect=false",
  "--secure-port=0",
  ...(name === "kube-scheduler" ? [] : [
    `--service-account-private-key-file=${join(folder, "service_accounts.key")}`,
    `--root-ca-file=${join(folder, "ca.crt")}`,
  ]),
];

/** The second certificate of the file: the API server writes its leaf first, then its CA. */
const authorityOf = async (certificateFile: string): Promise<string | undefined> => {
  const text = await Deno.readTextFile(certificateFile).catch(() => "");
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g)?.[1];
};

const newSigningKey = async (): Promise<{ readonly privatePem: string; readonly publicPem: string }> => {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  return {
    privatePem: pem("PRIVATE KEY", await crypto.subtle.exportKey("pkcs8", privateKey)),
    publicPem: pem("PUBLIC KEY", await crypto.subtle.exportKey("spki", publicKey)),
  };
};

const pem = (label: string, der: ArrayBuffer): string => {
  const lines = new Uint8Array(der).toBase64().match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
};

const CONTEXT = "llama-stack-operator";

const kubeconfigText = (server: string, caPem: string, token: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: CONTEXT, cluster: { server, "certificate-authority-data": btoa(caPem) } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: CONTEXT, context: { cluster: CONTEXT, user: "admin" } }],
    "current-context": CONTEXT,
  });

const isOk = async (url: string, init: RequestInit & { client: Deno.HttpClient }): Promise<boolean> => {
  try {
    const response = await fetch(url, init);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
};

const whyNotReady = async (folder: string, started: readonly BackgroundProcess[]): Promise<string> => {
  const parts = [
    `The control plane did not become ready; its logs are in ${folder}`,
  ];
  for (const process of started) {
    const state = process.hasExited() ? `ended with ${await process.exited}` : "still runs";
    parts.push(`--- ${process.logFile}, ${state}\n${lastLines(await process.log(), 40)}`);
  }
  return parts.join("\n");
};

const runKubectl = async (
  program: string,
  home: string,
  kubeconfig: string,
  args: readonly string[],
  stdin: string | undefined,
): Promise<string> => {
  // A cache of its own: ports are used again by servers with other CRDs.
  const env = { KUBECONFIG: kubeconfig, HOME: home, KUBECACHEDIR: join(home, "kubectl") };
  const { code, stdout, stderr } = await ended(program, args, { env, stdin });
  if (code === 0) return stdout;
  throw new Error(`kubectl ${args.join(" ")} exited with ${code}: ${stderr.trim()}`);
};
