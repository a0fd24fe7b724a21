/** What a server refuses or misunderstands of `spec.auth`, and what its author has to know. */
import type { Auth } from "../../api/auth.ts";
import { isExposed } from "../../api/exposed.ts";
import type { FieldPath } from "../../data/field_path.ts";
import { addressBytes } from "../../data/ip_address.ts";
import { isList, isObject, type Json } from "../../data/json.ts";
import { quoted } from "../../data/printable.ts";
import { NotSupportedByServer, RuleBroken } from "../../failure/failures.ts";
import { type Warning, warning } from "../../failure/warning.ts";
import type { Facts } from "../draft.ts";
import { CONFIG_FILE } from "../environment.ts";
import { isOlderMinor, productOf } from "../servers/families/families.ts";
import {
  AUTH_PATH,
  brokenProhibitions,
  conditionsOf,
  deadScopes,
  inAuth,
  patternsOf,
  policyPatterns,
  unknownConditions,
  UNOWNED,
} from "./auth_policies.ts";

export const authFailures = (auth: Auth, facts: Facts): ReadonlyArray<NotSupportedByServer | RuleBroken> => [
  ...unsupportedFields(auth, facts),
  ...placeholders(auth as unknown as Json, AUTH_PATH),
  ...unknownConditions(auth),
  ...brokenProhibitions(auth),
  ...deadScopes(auth, facts.server.version).filter(({ path }) => path.includes("forbid")).map(({ path, detail }) =>
    new RuleBroken({ path, detail: `${detail}; the server would ignore the rule and forbid nothing` })
  ),
  ...wrongNetworks(auth),
  ...otherConfig(facts),
];

export const authWarnings = (auth: Auth, facts: Facts): ReadonlyArray<Warning> => [
  ...policyPatterns(auth),
  ...deadScopes(auth, facts.server.version).filter(({ path }) => !path.includes("forbid")).map((
    { path, code, detail },
  ) => warning(code, path, `${detail}; the rule is for nothing`)),
  ...everyNetwork(auth),
  ...sharedTokens(auth),
  ...tokensInClear(facts),
  ...plainAddresses(auth),
];

interface Since {
  readonly path: FieldPath;
  readonly what: string;
  /** The first minor version that has it. */
  readonly since: string;
}

const unsupportedFields = (
  auth: Auth,
  { server: { version }, serverName }: Facts,
): ReadonlyArray<NotSupportedByServer> => {
  const { upstreamHeader } = auth;
  const wanted: ReadonlyArray<Since | undefined> = [
    // Older ones ask the probes of the kubelet for a token as well.
    { path: AUTH_PATH, what: "authentication with an open health check", since: "0.3" },
    upstreamHeader && { path: inAuth("upstreamHeader"), what: "authentication by a gateway", since: "0.8" },
    upstreamHeader?.attributeHeaders &&
    { path: inAuth("upstreamHeader", "attributeHeaders"), what: "a header for each attribute", since: "1.0" },
    upstreamHeader?.trustedProxyCidrs &&
    { path: inAuth("upstreamHeader", "trustedProxyCidrs"), what: "networks of the gateway", since: "1.4" },
    ...tenantFieldsOf(auth).map((path) => ({ path, what: "tenants of callers", since: TENANTS_SINCE })),
    auth.routePolicy && { path: inAuth("routePolicy"), what: "rules for paths", since: "0.5" },
    ...conditionsOf(auth).map(({ condition, path }) =>
      condition === UNOWNED ? { path, what: `the condition "${UNOWNED}"`, since: "0.4" } : undefined
    ),
    ...patternsOf(auth).map(({ path }) => ({ path, what: "regular expressions", since: "0.6" })),
  ];
  return unsupported(wanted, { version, serverName });
};

/** The first minor version that has tenants. */
const TENANTS_SINCE = "1.2";

const tenantFieldsOf = ({ oidc, introspection, webhook, upstreamHeader }: Auth): ReadonlyArray<FieldPath> => [
  ...(oidc?.tenantClaim === undefined ? [] : [inAuth("oidc", "tenantClaim")]),
  ...(introspection?.tenantClaim === undefined ? [] : [inAuth("introspection", "tenantClaim")]),
  ...(webhook?.tenantField === undefined ? [] : [inAuth("webhook", "tenantField")]),
  ...(upstreamHeader?.tenantHeader === undefined ? [] : [inAuth("upstreamHeader", "tenantHeader")]),
];

export const tenancyFailures = (
  { spec, server: { version }, serverName }: Facts,
): ReadonlyArray<NotSupportedByServer> =>
  spec.tenancy === undefined ? [] : unsupported(
    [{ path: ["spec", "tenancy"], what: "tenancy", since: TENANTS_SINCE }],
    { version, serverName },
  );

const unsupported = (
  wanted: ReadonlyArray<Since | undefined>,
  { version, serverName }: { readonly version: string; readonly serverName: string },
): ReadonlyArray<NotSupportedByServer> => {
  const lacking = wanted.filter((field) => field !== undefined).filter(({ since }) => isOlderMinor(version, since));
  // What is in the block is not supported either.
  const shown = lacking.filter(({ path }) =>
    !lacking.some((other) => other.path.length < path.length && other.path.every((step, index) => path[index] === step))
  );
  return shown.map(({ path, what, since }) =>
    new NotSupportedByServer({
      path,
      what,
      server: serverName,
      instead: `choose ${productOf(since)} ${since} or newer in spec.distribution, or remove the field`,
    })
  );
};

/** The server would replace them by what nobody has checked: an empty issuer, for example, is not verified. */
const placeholders = (value: Json, path: FieldPath): ReadonlyArray<RuleBroken> => {
  if (typeof value === "string") {
    return value.includes("${env.")
      ? [new RuleBroken({ path, detail: "variables of the environment are not allowed here; write the text itself" })]
      : [];
  }
  if (isList(value)) return value.flatMap((item, index) => placeholders(item, [...path, index]));
  return isObject(value) ? Object.entries(value).flatMap(([key, item]) => placeholders(item, [...path, key])) : [];
};

/** Of the same path, another file would have other rules, or none. */
const otherConfig = ({ spec, server: { family } }: Facts): ReadonlyArray<RuleBroken> =>
  (spec.workload?.overrides?.env ?? []).flatMap(({ name, value }, index) =>
    name !== family.process.configVariable || value === CONFIG_FILE ? [] : [
      new RuleBroken({
        path: ["spec", "workload", "overrides", "env", index],
        detail: `with ${name}, the server reads another config than that with spec.auth; remove the variable`,
      }),
    ]
  );

const everyNetwork = ({ upstreamHeader }: Auth): ReadonlyArray<Warning> =>
  (upstreamHeader?.trustedProxyCidrs ?? []).flatMap((network, index) =>
    !/\/0+$/.test(network) ? [] : [
      warning(
        "EveryoneTrusted",
        inAuth("upstreamHeader", "trustedProxyCidrs", index),
        "every address is trusted, so that whoever can connect may name any caller in the header; write the network of the " +
          "gateway",
      ),
    ]
  );

export const wrongNetworks = ({ upstreamHeader }: Auth): ReadonlyArray<RuleBroken> =>
  (upstreamHeader?.trustedProxyCidrs ?? []).flatMap((network, index) => {
    const [address = "", bits = ""] = network.split("/");
    const bytes = addressBytes(address);
    // Python rejects numbers that begin with 0.
    const isNetwork = bytes !== undefined && Number(bits) <= bytes.length * 8 &&
      (bytes.length > 4 || !/(^|\.)0[0-9]/.test(address));
    return isNetwork ? [] : [
      new RuleBroken({
        path: inAuth("upstreamHeader", "trustedProxyCidrs", index),
        detail: `${quoted(network)} is not a network; write one such as 10.0.0.0/8`,
      }),
    ];
  });

/** Said of every resource that has it, because nothing else in it shows. */
const sharedTokens = ({ kubernetes }: Auth): ReadonlyArray<Warning> =>
  kubernetes === undefined ? [] : [
    warning(
      "TokensShared",
      inAuth("kubernetes"),
      "the server receives tokens that the API server accepts, and can act as its callers with them; prefer oidc with an " +
        "audience of its own",
    ),
  ];

/** Beyond the cluster, others can read what is sent there, and answer in its place. */
const plainAddresses = ({ oidc, introspection, webhook }: Auth): ReadonlyArray<Warning> =>
  ([
    [inAuth("oidc", "jwksUri"), oidc?.jwksUri, "whoever answers in its place decides which tokens are valid"],
    [inAuth("introspection", "url"), introspection?.url, "the client secret and the tokens are sent in clear text"],
    [inAuth("webhook", "endpoint"), webhook?.endpoint, "the tokens are sent in clear text"],
  ] as const).filter(([, address]) => address !== undefined && PLAIN.test(address)).map(([path, , why]) =>
    warning("TokensInClear", path, `${why}; use https`)
  );

/** Names of Services have one label, or end in svc or cluster.local. */
const PLAIN = /^http:\/\/(?!([^/:?#]+\.)?(localhost|svc|cluster\.local)\.?([/:?#]|$))[^/:?#]*\.[^/?#]/i;

const tokensInClear = ({ spec }: Facts): ReadonlyArray<Warning> => {
  const { auth, networking } = spec;
  const { expose, tls } = networking ?? {};
  return !isExposed(spec) || tls?.enabled === true || expose?.tlsSecretName !== undefined ||
      // Its listener decides.
      expose?.gateway !== undefined ||
      auth?.upstreamHeader !== undefined
    ? []
    : [
      warning(
        "TokensInClear",
        ["spec", "networking", "expose"],
        "callers send their tokens in clear text, unless this becomes a Route, or the ingress controller serves HTTPS " +
          "by itself; set spec.networking.expose.tlsSecretName, or spec.networking.tls",
      ),
    ];
};
