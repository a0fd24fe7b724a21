/** Which APIs the server opens: what the base opens, what was added, what those need; nothing without a provider. */
import { listAt, objectAt, put, stringAt } from "../../data/json.ts";
import { isConditional, opensAllApis } from "../servers/base.ts";
import { providerType } from "../servers/catalogue.ts";
import { disabledOn } from "./disabled.ts";
import { entriesOf, withConfig } from "../draft.ts";
import { soundStage, type Stage } from "../stage.ts";

export const computeApis: Stage<never> = soundStage((draft, facts) => {
  const { catalogue } = facts.server;
  const { off } = disabledOn(facts);
  const base = listAt(draft.config, "apis").map(String);
  // An absent list means everything to the server; it only has to be spelled out once something is switched off.
  const isOpen = opensAllApis(draft.config, facts.server);
  if (isOpen && off.length === 0) return withConfig(draft, put(draft.config, ["apis"], undefined));
  const present = Object.keys(objectAt(draft.config, "providers")).sort();
  // What the list of a base leaves out stays closed: the server reads nothing of its section. Resources may need it.
  const { resources, vectorStores } = facts.spec;
  const opensAll = isOpen || resources !== undefined || vectorStores !== undefined;
  const provided = present.filter((api) => opensAll || draft.declared.some((provider) => provider.api === api));
  const needed = present.filter((api) => provided.includes(api) || base.includes(api)).flatMap((api) =>
    entriesOf(draft.config, api).flatMap((entry) =>
      providerType(catalogue, api, stringAt(entry, "provider_type") ?? "")?.requires ?? []
    )
  ).filter((api) => catalogue.apis[api]?.kind === "routed").sort();
  const opened = [...new Set([...base, ...provided, ...needed])].filter((api) => {
    const known = Object.hasOwn(catalogue.apis, api) ? catalogue.apis[api] : undefined;
    // Only the pod knows what a variable makes of it.
    if (api.includes("${env.")) return true;
    if (known === undefined || off.includes(api)) return false;
    // A direct API that no provider serves stops the server's start.
    return known.kind !== "direct" || entriesOf(draft.config, api).some((entry) => !isConditional(entry));
  });
  // A registry opens only together with its router.
  const apis = opened.filter((api) => {
    const router = catalogue.apis[api]?.router;
    return router === undefined || opened.includes(router);
  });
  return withConfig(draft, put(draft.config, ["apis"], apis.length === 0 ? ["inspect"] : apis));
});
