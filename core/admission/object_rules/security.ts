/** `securityContext` of the pod. Source: validatePodSpecSecurityContext of Kubernetes; without Windows, which no server runs on. */
import { quoted } from "../../data/printable.ts";
import { isObject, type Json, type JsonObject, member, stringAt } from "../../data/json.ts";
import type { Broken } from "../change_rule.ts";
import { broken, each, itemsOf, part } from "./broken.ts";
import { climbs } from "./paths.ts";

/** Users and groups of Linux, as Kubernetes allows them. */
const ID_MAX = 2_147_483_647;

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_CHARACTERS_MAX = 253;
const PROFILE_CHARACTERS_MAX = 4095;

export function* podSecurity(value: Json): Generator<Broken> {
  if (!isObject(value)) return;
  for (const field of ["fsGroup", "runAsUser", "runAsGroup"]) yield* id(member(value, field), field);
  for (const [index, group] of itemsOf(value.supplementalGroups).entries()) {
    yield* id(group, "supplementalGroups", index);
  }
  const names = itemsOf(value.sysctls).map((item) => stringAt(item, "name"));
  yield* each(value, "sysctls", function* (_, index) {
    const name = names[index];
    if (name !== undefined && (name.length > SYSCTL_CHARACTERS_MAX || !SYSCTL.test(name))) {
      yield broken(`not the name of a sysctl: ${quoted(name)}; use a name such as net.ipv4.tcp_syncookies`, "name");
    } else if (names.indexOf(name) !== index) {
      yield broken(`a second ${quoted(name ?? "")}; remove one of them`, "name");
    }
  });
  yield* part(value, "windowsOptions", function* ({ hostProcess }) {
    if (hostProcess === true) {
      yield broken("not possible for a pod that uses the network of pods; remove it", "hostProcess");
    }
  });
  yield* part(value, "seccompProfile", function* (profile) {
    yield* localhost(profile);
    const file = stringAt(profile, "localhostProfile");
    if (profile.type === "Localhost" && file !== undefined && climbs(file)) {
      yield broken(
        `${quoted(file)} leaves the folder of the profiles; use a relative path without ".."`,
        "localhostProfile",
      );
    }
  });
  yield* part(value, "appArmorProfile", function* (profile) {
    yield* localhost(profile);
    const name = stringAt(profile, "localhostProfile");
    if (profile.type !== "Localhost" || name === undefined) return;
    if (name.trim() !== name || name === "" || name.length > PROFILE_CHARACTERS_MAX) {
      yield broken(
        `must be 1 to ${PROFILE_CHARACTERS_MAX} characters without spaces at the beginning and the end`,
        "localhostProfile",
      );
    }
  });
  const policy = stringAt(value, "seLinuxChangePolicy");
  if (policy !== undefined && policy !== "Recursive" && policy !== "MountOption") {
    yield broken(`unknown policy: ${quoted(policy)}; use Recursive or MountOption`, "seLinuxChangePolicy");
  }
}

function* id(value: Json | undefined, ...at: ReadonlyArray<string | number>): Generator<Broken> {
  if (typeof value === "number" && (value < 0 || value > ID_MAX)) {
    yield broken(`out of range: ${value}; use 0 to ${ID_MAX}`, ...at);
  }
}

function* localhost(profile: JsonObject): Generator<Broken> {
  const isSet = member(profile, "localhostProfile") !== undefined;
  if (profile.type === "Localhost" && !isSet) {
    yield broken(
      "required with type Localhost; name a profile of the node, or use type RuntimeDefault",
      "localhostProfile",
    );
  }
  if (profile.type !== "Localhost" && isSet) {
    yield broken("only valid with type Localhost; remove it, or set that type", "localhostProfile");
  }
}
