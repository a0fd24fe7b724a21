/** Addresses and files that are in the pod alone. */
import { deepStrictEqual, match } from "node:assert/strict";
import * as Result from "effect/Result";
import { decoded, generated, SURROUNDINGS } from "../../../tests/given.ts";
import { formatPath } from "../../data/field_path.ts";
import type { JsonObject } from "../../data/json.ts";
import { derive, warningsOf } from "../derive.ts";

const CODES = ["EndpointOfPod", "DataNotKept", "EndpointIncomplete", "FileNotMounted", "VariableUnfit"];
const ON = { distribution: { name: "starter", serverVersion: "1.4.1" } };
const HEAD = "version: 2\ndistro_name: my\napis: [inference, vector_io]\n";

const allow = { ...SURROUNDINGS.allow, privileged: true };

/** Each finding as `Code at path: place in the config`. */
const found = (spec: JsonObject, config?: string): ReadonlyArray<string> => {
  const configMaps = new Map([["default/mine", { data: { "config.yaml": config ?? "" }, binaryData: {} }]]);
  const derived = Result.getOrThrow(derive(decoded({ ...ON, ...spec }), { ...SURROUNDINGS, allow, configMaps }));
  return warningsOf(derived).filter(({ code }) => CODES.includes(code)).map(({ code, path, message }) =>
    `${code} at ${formatPath(path)}${
      config === undefined ? "" : `: ${message.replace(/^in [^,]*, /, "").split(": ")[0]}`
    }`
  );
};

/** As the own config and as the base config. */
const inOwn = (config: string, spec: JsonObject = {}): ReadonlyArray<string> => {
  const [own, base] = ["overrideConfig", "baseConfig"].map((field) =>
    found({ ...spec, [field]: { configMapName: "mine" } }, config).map((line) => line.replace(/ at [^:]*/, ""))
  );
  deepStrictEqual(own, base);
  return own ?? [];
};

const vllm = (address: string, rest = "") =>
  `${HEAD}providers: {inference: [{provider_id: a, provider_type: "remote::vllm", config: {base_url: ${address}}}]}\n${rest}`;
/** With those that the server has its stores in. */
const backends = (entries: string) => {
  const others = ["kv", "sql"].filter((kind) => !entries.includes(`${kind}_default:`))
    .map((kind) => `${kind}_default: {type: ${kind}_sqlite, db_path: /.llama/${kind}.db}`);
  return vllm("http://v:1/v1", `storage: {backends: {${[entries, ...others]}}}\n`);
};
const env = (name: string, value: string) => ({ workload: { overrides: { env: [{ name, value }] } } });
const BASE_URL = "providers.inference[0].config.base_url";

Deno.test("a provider of an own config or base config at localhost is a warning, also by the default of a variable", () => {
  for (const host of ["localhost", "127.0.0.1", "u:p@localhost", "'[::1]'".replaceAll("'", "")]) {
    deepStrictEqual(inOwn(vllm(`"http://${host}:8000/v1"`)), [`EndpointOfPod: ${BASE_URL}`], host);
  }
  const unset = vllm("'${env.OF_NOBODY:=http://localhost:8000/v1}'");
  deepStrictEqual(inOwn(unset), [`EndpointOfPod: ${BASE_URL}`]);
  deepStrictEqual(inOwn(unset, env("OF_NOBODY", "http://v:8000/v1")), []);
  for (const host of ["localhost.example.com", "v", "127.example.com"]) {
    deepStrictEqual(inOwn(vllm(`"http://${host}:8000/v1"`)), [], host);
  }
  const off = unset.replace("provider_id: a", "provider_id: '${env.NONE:+a}'");
  deepStrictEqual(inOwn(off), []);
});

Deno.test("a SQL database in a folder that nothing makes is a warning", () => {
  const databases = (sql: string, kv = "/.llama/kv.db") =>
    backends(`kv_default: {type: kv_sqlite, db_path: "${kv}"}, sql_default: {type: sql_sqlite, db_path: "${sql}"}`);
  const FOUND = ["FileNotMounted: storage.backends.sql_default.db_path"];
  for (const file of ["/data/sql.db", "~/.llama/storage/sql.db", "data/sql.db", "${env.OF_NOBODY:=/data}/sql.db"]) {
    deepStrictEqual(inOwn(databases(file)), FOUND, file);
  }
  for (const file of ["/.llama/sql.db", "~/.llama/sql.db", "sql.db", "/tmp/sql.db", ":memory:"]) {
    deepStrictEqual(inOwn(databases(file)), [], file);
  }
  // The server makes the folders of key-value databases, and reads the home folder in what a variable gives alone.
  deepStrictEqual(inOwn(databases("/tmp/data/sql.db", "/tmp/data/kv/kv.db")), []);
  deepStrictEqual(inOwn(databases("~/a/sql.db", "~/a/kv.db")), FOUND);
  deepStrictEqual(inOwn(databases("~/.llama/a/sql.db", "${env.OF_NOBODY:=~/.llama/a}/kv.db")), []);
  const unused = { name: "sql_x", type: "sql_sqlite", settings: { db_path: "/data/x.db" } };
  deepStrictEqual(found({ storage: { backends: [unused] } }), [
    "FileNotMounted at spec.storage.backends[0].settings.db_path",
  ]);
});

Deno.test("a folder that the server creates where only root may is a warning, unless the pod runs as root", () => {
  const kv = (file: string) => backends(`kv_default: {type: kv_sqlite, db_path: ${file}}`);
  const isRoot = { workload: { overrides: { securityContext: { runAsUser: 0 } } } };
  const volume = { workload: { overrides: { volumeMounts: [{ name: "x", mountPath: "/data" }] } } };
  deepStrictEqual(inOwn(kv("/data/kv/x.db")), ["FileNotMounted: storage.backends.kv_default.db_path"]);
  deepStrictEqual(inOwn(kv("/data/kv/x.db"), isRoot), []);
  deepStrictEqual(inOwn(kv("/data/kv/x.db"), volume), []);
  const of = (list: string, provider: string, settings: JsonObject) =>
    found({ providers: { [list]: [{ provider, settings }] } });
  for (
    const [list, type, field] of [["files", "inline::localfs", "storage_dir"], [
      "vectorIo",
      "inline::qdrant",
      "path",
    ]] as const
  ) {
    deepStrictEqual(of(list, type, { [field]: "/data/x" }), [
      `FileNotMounted at spec.providers.${list}[0].settings.${field}`,
    ]);
    for (const folder of ["/tmp/x", "/.llama/x", "~/x", "${env.OF_NOBODY:=/tmp}/x"]) {
      deepStrictEqual(of(list, type, { [field]: folder }), [], folder);
    }
  }
});

Deno.test("a database at localhost is a warning, also if its host is left out", () => {
  const postgres = (host: string) =>
    `sql_default: {type: sql_postgres, ${host}db: a, user: u, password: "\${env.PW:=}"}`;
  const at = ["EndpointOfPod: storage.backends.sql_default.host"];
  for (const host of ["host: localhost, ", "", "host: '${env.OF_NOBODY:=localhost}', "]) {
    deepStrictEqual(inOwn(backends(postgres(host))), at, host);
  }
  deepStrictEqual(inOwn(backends(postgres("host: '${env.OF_NOBODY:=localhost}', ")), env("OF_NOBODY", "db")), []);
  deepStrictEqual(inOwn(backends("kv_default: {type: kv_redis, host: 127.0.0.1}")), [
    "EndpointOfPod: storage.backends.kv_default.host",
  ]);
  // The resource replaces the database of the base config.
  const replaced = { storage: { sql: {} }, baseConfig: { configMapName: "mine" } };
  deepStrictEqual(found(replaced, backends(postgres(""))), []);
});

Deno.test("of what the server does not read, no place is a warning", () => {
  const claim = { workload: { storage: { size: "1Gi" } } };
  const places = [
    "{type: kv_postgres, host: localhost, db: a, user: u, password: p}",
    "{type: kv_sqlite, db_path: /tmp/x.db}",
  ];
  const said = ["EndpointOfPod: storage.backends.cache.host", "DataNotKept: storage.backends.cache.db_path"];
  const using = (backend: string, id: string) =>
    `{vector_io: [{provider_id: ${id}, provider_type: "inline::faiss", config: {persistence: {backend: ${backend}, namespace: n}}}], `;
  for (const [index, place] of places.entries()) {
    const unused = backends(`cache: ${place}, kv_default: {type: kv_sqlite, db_path: /.llama/x.db}`);
    const used = (backend: string, id = "f") => unused.replace("providers: {", `providers: ${using(backend, id)}`);
    deepStrictEqual(inOwn(unused, claim), [], place);
    deepStrictEqual(inOwn(used("kv_default"), claim), [], place);
    deepStrictEqual(inOwn(used("cache", "'${env.OF_NOBODY:+f}'"), claim), [], place);
    for (const backend of ["cache", "'${env.OF_NOBODY:=cache}'"]) {
      deepStrictEqual(inOwn(used(backend), claim), [said[index]], `${place} ${backend}`);
    }
    const store = unused.replace("storage: {", "storage: {stores: {metadata: {backend: cache, namespace: n}}, ");
    deepStrictEqual(inOwn(store, claim), [said[index]], place);
    // Of servers up to 0.2.
    for (const key of ["metadata_store", "inference_store"]) {
      const legacy = place.replace("kv_", "");
      deepStrictEqual(inOwn(vllm("http://v:1/v1", `${key}: ${legacy}\n`), claim), [], `${key} ${place}`);
    }
  }
});

Deno.test("a storage backend of a base config that only the resource uses is a warning", () => {
  const config = backends(
    "cache: {type: kv_redis, host: localhost}, kv_default: {type: kv_sqlite, db_path: /.llama/x.db}",
  );
  const settings = { persistence: { backend: "cache", namespace: "n" } };
  const at = (providers: JsonObject) => found({ providers, baseConfig: { configMapName: "mine" } }, config);
  deepStrictEqual(at({ vectorIo: [{ provider: "faiss", settings }] }), [
    "EndpointOfPod at spec.baseConfig: storage.backends.cache.host",
  ]);
  deepStrictEqual(at({ vectorIo: [{ provider: "faiss" }] }), []);
});

Deno.test("a placeholder that no server expands is a warning where the server takes the text", () => {
  for (const text of ["'${env.DIR:-/data}/x.db'", "'${env.dir}'", "'${env.DIR:=${env.OTHER}}'"]) {
    deepStrictEqual(
      inOwn(backends(`kv_default: {type: kv_sqlite, db_path: ${text}}`)),
      ["VariableUnfit: storage.backends.kv_default.db_path"],
      text,
    );
    const token = vllm("http://v:1/v1").replace("base_url:", `api_token: ${text}, base_url:`);
    deepStrictEqual(inOwn(token), ["VariableUnfit: providers.inference[0].config.api_token"], text);
  }
});

Deno.test("the host of a database is judged by its connection string if there is one", () => {
  const at = (url: string, type = "sql_postgres", variables: JsonObject = {}) =>
    inOwn(backends(`sql_default: {type: ${type}, connection_string: ${url}}`), variables);
  const secretKeyRef = { name: "s", key: "k" };
  const ofSecret = { workload: { overrides: { env: [{ name: "URL", valueFrom: { secretKeyRef } }] } } };
  const local = "postgresql://u:p@localhost:5432/d";
  for (const type of ["kv_postgres", "sql_postgres"]) {
    deepStrictEqual(at("'${env.URL}'", type, ofSecret), []);
    deepStrictEqual(at("'${env.URL}'", type, env("URL", "postgresql://u:p@db/d")), []);
    deepStrictEqual(at("'postgresql://u:${env.PW:=p}@db/localhost'", type), []);
    for (const url of [`'${local}'`, `'\${env.OF_NOBODY:=${local}}'`]) {
      deepStrictEqual(at(url, type), ["EndpointOfPod: storage.backends.sql_default.connection_string"], url);
    }
    for (const url of ["null, user: u", "'${env.OF_NOBODY:+x}', user: u"]) {
      deepStrictEqual(at(url, type), ["EndpointOfPod: storage.backends.sql_default.host"], url);
    }
  }
});

Deno.test("a provider or a database that the resource declares at localhost is a warning at its field", () => {
  const inference = (entry: JsonObject) => ({ providers: { inference: [{ provider: "vllm", ...entry }] } });
  const AT = "EndpointOfPod at spec.providers.inference[0]";
  deepStrictEqual(found(inference({ endpoint: "http://localhost:8000/v1" })), [`${AT}.endpoint`]);
  deepStrictEqual(found(inference({ settings: { base_url: "http://127.0.0.1:8000/v1" } })), [
    `${AT}.settings.base_url`,
  ]);
  deepStrictEqual(found(inference({ endpoint: "${env.OF_NOBODY:=http://localhost:8000/v1}" })), [`${AT}.endpoint`]);
  deepStrictEqual(found(inference({ endpoint: "http://vllm:8000/v1" })), []);
  deepStrictEqual(found({ storage: { kv: { type: "redis", endpoint: "localhost:6379" } } }), [
    "EndpointOfPod at spec.storage.kv.endpoint",
  ]);
  const further = { name: "cache", type: "kv_redis", settings: { host: "127.0.0.1" } };
  deepStrictEqual(found({ storage: { backends: [further] } }), [
    "EndpointOfPod at spec.storage.backends[0].settings.host",
  ]);
  // The client takes every other address for the cloud of the vendor.
  const weaviate = { provider: "weaviate", endpoint: "localhost:8080" };
  deepStrictEqual(found({ providers: { vectorIo: [weaviate] } }), []);
});

Deno.test("an address without the path that its provider expects is a warning in an own config or base config", () => {
  deepStrictEqual(inOwn(vllm("http://v:8000")), [`EndpointIncomplete: ${BASE_URL}`]);
  deepStrictEqual(inOwn(vllm("'${env.OF_NOBODY:=http://v:8000/}'")), [`EndpointIncomplete: ${BASE_URL}`]);
  deepStrictEqual(inOwn(vllm("http://v:8000/v1")), []);
  deepStrictEqual(inOwn(vllm("http://v:8000/other")), []);
});

Deno.test("a database outside of the claim is a warning if the resource asks for one", () => {
  const claim = { workload: { storage: { size: "1Gi" } } };
  const sqlite = (file: string) => backends(`kv_default: {type: kv_sqlite, db_path: ${file}}`);
  for (const file of ["./data/x.db", "x.db", "/tmp/x.db", "'${env.OF_NOBODY:=/tmp}/x.db'"]) {
    deepStrictEqual(inOwn(sqlite(file), claim), ["DataNotKept: storage.backends.kv_default.db_path"], file);
    deepStrictEqual(inOwn(sqlite(file)), [], file);
  }
  for (const file of ["/.llama/x.db", "'~/.llama/x.db'", "'${env.SQLITE_STORE_DIR:=/x}/x.db'", "':memory:'"]) {
    deepStrictEqual(inOwn(sqlite(file), claim), [], file);
  }
});

const MODULE =
  `${HEAD}providers: {inference: [{provider_id: a, provider_type: "remote::x", module: "some_package==1", config: {}}]}\n`;
const modules = (spec: JsonObject, field = "overrideConfig", text = MODULE) => {
  const configMaps = new Map([["default/mine", { data: { "config.yaml": text }, binaryData: {} }]]);
  const resource = decoded({ ...ON, [field]: { configMapName: "mine" }, ...spec });
  return warningsOf(Result.getOrThrow(derive(resource, { ...SURROUNDINGS, configMaps })))
    .filter(({ message }) => message.includes("spec.externalProviders")).map(({ path }) => formatPath(path));
};

Deno.test("a provider whose package a published image lacks is a warning, unless it may be installed", () => {
  deepStrictEqual(modules({}), ["spec.overrideConfig.configMapName"]);
  deepStrictEqual(modules({}, "baseConfig"), ["spec.baseConfig"]);
  const image = { distribution: { image: "registry.example.com/own:1", serverVersion: "1.4.1" } };
  deepStrictEqual(modules(image), []);
  deepStrictEqual(modules({ workload: { overrides: { command: ["sh", "-c", "pip install x && exec y"] } } }), []);
  deepStrictEqual(
    modules(
      { externalProviders: { inference: [{ providerId: "a", image: "registry.example.com/p:1" }] } },
      "baseConfig",
    ),
    [],
  );
});

Deno.test("a folder of providers that a published image lacks is a warning, unless it may be mounted", () => {
  const inBase = (folder: string, spec: JsonObject = {}) =>
    modules(spec, "baseConfig", `${HEAD}providers: {}\nexternal_providers_dir: ${folder}\n`);
  deepStrictEqual(inBase("./providers.d"), ["spec.baseConfig"]);
  deepStrictEqual(inBase("~/.ogx/providers.d"), ["spec.baseConfig"]);
  deepStrictEqual(inBase("/providers"), ["spec.baseConfig"]);
  deepStrictEqual(inBase("${env.PROVIDERS:=/opt/providers}"), ["spec.baseConfig"]);
  for (const folder of ["~", "/tmp", "''", "${env.PROVIDERS:=}"]) deepStrictEqual(inBase(folder), [], folder);
  const volumes = [{ name: "p", configMap: { name: "providers" } }];
  const mounted = { volumes, volumeMounts: [{ name: "p", mountPath: "/opt/providers" }] };
  deepStrictEqual(inBase("/opt/providers", { workload: { overrides: mounted } }), []);
});

Deno.test("for a package that is missing, an own config is not told to use a field that excludes it", () => {
  const said = (field: string) => {
    const configMaps = new Map([["default/mine", { data: { "config.yaml": MODULE }, binaryData: {} }]]);
    const resource = decoded({ ...ON, [field]: { configMapName: "mine" } });
    return warningsOf(Result.getOrThrow(derive(resource, { ...SURROUNDINGS, configMaps })))
      .map(({ message }) => message).filter((message) => message.includes("some_package")).join();
  };
  match(said("overrideConfig"), /; use an image that has it, or spec\.baseConfig .* with spec\.externalProviders$/);
  match(said("baseConfig"), /; remove the entry and install the provider with spec\.externalProviders, or use/);
});

Deno.test("a resource without an address at localhost has no such warning", () =>
  deepStrictEqual(
    generated({ ...ON, storage: { kv: {} } }).config.warnings.filter(({ code }) => CODES.includes(code)),
    [],
  ));
