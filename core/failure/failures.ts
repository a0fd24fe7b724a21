/**
 * Every way in which a resource can fail to become a config: one class each, its sentence beside its fields.
 *
 * It is over 300 lines so that every sentence that a user may read stands in one place.
 *
 * A sentence names the field, the value and the way out. No field of a failure ever holds a secret value.
 */
import * as Data from "effect/Data";
import { didYouMean } from "../data/closest.ts";
import { type FieldPath, formatPath } from "../data/field_path.ts";

const list = (words: ReadonlyArray<string>): string => words.length === 0 ? "none" : words.join(", ");
const quoted = (words: ReadonlyArray<string>): string => words.map((word) => `"${word}"`).join(" and ");

/** The resource does not fit the schema, at one place. */
export class SchemaMismatch extends Data.TaggedError("SchemaMismatch")<{
  readonly path: FieldPath;
  /** What was expected there and what to do; quotes the value only where no secret can stand. */
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** The resource breaks a rule between fields (rules.ts). */
export class RuleBroken extends Data.TaggedError("RuleBroken")<{
  readonly path: FieldPath;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** `metadata.name` leaves no room for the names of the objects. */
export class InvalidName extends Data.TaggedError("InvalidName")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `metadata.name "${this.name}" cannot be used: ${this.detail}`;
  }
}

/** `spec.distribution.name` is no known distribution. */
export class UnknownDistribution extends Data.TaggedError("UnknownDistribution")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly available: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `Unknown distribution "${this.name}". Available distributions: ${list(this.available)} (${
      formatPath(this.path)
    })`;
  }
}

/** A config is to be generated for an image that brings no base. */
export class BaseConfigRequired extends Data.TaggedError("BaseConfigRequired")<{
  readonly path: FieldPath;
  readonly image: string;
  /** The fields that cause generation, e.g. `spec.providers`. */
  readonly causes: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: image "${this.image}" brings no base config, and ${
      list(this.causes)
    } cannot be applied ` +
      `without one. Use spec.distribution.name, an image with the label io.llamastack.config.base64, or spec.overrideConfig ` +
      `with a complete config.yaml (offline: --base FILE)`;
  }
}

/** No line of servers is known for what the resource runs. */
export class UnsupportedServer extends Data.TaggedError("UnsupportedServer")<{
  readonly path: FieldPath;
  /** The version, or undefined where it is unknown. */
  readonly version: string | undefined;
  readonly supported: ReadonlyArray<string>;
}> {
  override get message(): string {
    const what = this.version === undefined
      ? "the version of the server is unknown"
      : `server ${this.version} is not supported`;
    return `${formatPath(this.path)}: ${what}. Supported: ${list(this.supported)}. ` +
      `Set spec.distribution.serverVersion to one of them, or bring a whole config with spec.overrideConfig`;
  }
}

/** `image-overrides` names an image of another line than the distribution's own. */
export class OverrideOfAnotherLine extends Data.TaggedError("OverrideOfAnotherLine")<{
  readonly path: FieldPath;
  readonly distribution: string;
  readonly image: string;
  readonly pinned: string;
}> {
  override get message(): string {
    return `The operator's image override "${this.image}" for distribution "${this.distribution}" is a server of another line ` +
      `than the pinned ${this.pinned}: its config would not fit. Use an image of that line, or spec.distribution.image ` +
      `with serverVersion (${formatPath(this.path)})`;
  }
}

/** The base document cannot be read at all. */
export class BaseUnreadable extends Data.TaggedError("BaseUnreadable")<{
  readonly path: FieldPath;
  /** Where the base comes from, e.g. `embedded base starter`. */
  readonly origin: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `Cannot read the base config (${this.origin}): ${this.detail}`;
  }
}

/** The base document is of a shape that this server line does not have. */
export class UnsupportedConfigVersion extends Data.TaggedError("UnsupportedConfigVersion")<{
  readonly path: FieldPath;
  readonly version: string;
  readonly origin: string;
  /** What contradicts, e.g. `metadata_store at top level`. */
  readonly contradictions: ReadonlyArray<string>;
  readonly supported: ReadonlyArray<string>;
}> {
  override get message(): string {
    const why = this.contradictions.length === 0 ? "" : ` (${this.contradictions.join("; ")})`;
    return `Unsupported config.yaml version ${this.version}. Supported versions: ${list(this.supported)}. ` +
      `Base: ${this.origin}${why}`;
  }
}

/** A provider type that the server line does not have. */
export class UnknownProviderType extends Data.TaggedError("UnknownProviderType")<{
  readonly path: FieldPath;
  readonly type: string;
  readonly api: string;
  readonly server: string;
  /** Sorted types of this API on this server. */
  readonly offered: ReadonlyArray<string>;
}> {
  override get message(): string {
    const near = didYouMean(this.type, this.offered);
    const all = near === "" ? `; it offers ${list(this.offered)}` : near;
    return `${formatPath(this.path)}: ${this.server} has no ${this.api} provider of type "${this.type}"${all}`;
  }
}

/** A model names a provider that is neither declared nor in the base. */
export class UnknownProvider extends Data.TaggedError("UnknownProvider")<{
  readonly path: FieldPath;
  readonly id: string;
  readonly known: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: provider ID "${this.id}" not found${didYouMean(this.id, this.known)}; ` +
      `available providers: ${list(this.known)}`;
  }
}

/** Models, tools or shields without a provider that can serve them. */
export class MissingProviderForResource extends Data.TaggedError("MissingProviderForResource")<{
  readonly path: FieldPath;
  readonly resource: "models" | "tools" | "shields";
  /** The list of `spec.providers` where the missing one would stand. */
  readonly field: "inference" | "toolRuntime" | "safety";
  /** The one entry that lacks a provider, with the types that could serve it; absent where no provider is there at all. */
  readonly entry?: { readonly name: string; readonly types: ReadonlyArray<string> };
}> {
  override get message(): string {
    const general = `resources.${this.resource} requires at least one ${this.field} provider to be configured`;
    return this.entry === undefined
      ? general
      : `${formatPath(this.path)}: "${this.entry.name}" needs a ${this.field} provider of type ` +
        `${this.entry.types.join(" or ")}; add one to spec.providers.${this.field}`;
  }
}

/** Two references of secrets that would share one environment variable. */
export class EnvNameCollision extends Data.TaggedError("EnvNameCollision")<{
  readonly path: FieldPath;
  readonly name: string;
  /** Both field paths as text, in the order of the resource. */
  readonly paths: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${
      this.paths.join(" and ")
    } would share the environment variable ${this.name}: give one of the providers another id ` +
      `or the field another name`;
  }
}

/** What the resource asks for has no place on servers of this line. */
export class NotSupportedOnLine extends Data.TaggedError("NotSupportedOnLine")<{
  readonly path: FieldPath;
  readonly what: string;
  readonly server: string;
  readonly instead: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.server} has no ${this.what}; ${this.instead}`;
  }
}

/** The operator's settings do not let the author of a resource ask for it. */
export class NotAllowed extends Data.TaggedError("NotAllowed")<{
  readonly path: FieldPath;
  /** The subject of the sentence. */
  readonly what: string;
  /** The setting that would allow it. */
  readonly setting: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.what} is not allowed by the operator's setting ${this.setting}; ` +
      `remove the field, or ask the administrator of the operator`;
  }
}

/** A field of the API that this operator does not act on yet. */
export class NotBuiltYet extends Data.TaggedError("NotBuiltYet")<{
  readonly path: FieldPath;
  readonly instead: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: not supported by this version of the operator; ${this.instead}`;
  }
}

/** A setting without which the server does not start. */
export class MissingSetting extends Data.TaggedError("MissingSetting")<{
  readonly path: FieldPath;
  readonly type: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: a provider of type "${this.type}" does not start without it; set the field`;
  }
}

/** A setting that makes the server refuse the whole config. */
export class ForbiddenSetting extends Data.TaggedError("ForbiddenSetting")<{
  readonly path: FieldPath;
  readonly type: string;
  readonly known: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: a provider of type "${this.type}" refuses fields that it does not know; ` +
      `known fields: ${list(this.known)}`;
  }
}

/** An address that the server could not use. */
export class UnusableEndpoint extends Data.TaggedError("UnusableEndpoint")<{
  readonly path: FieldPath;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.detail}`;
  }
}

/** Two registrations that the server takes for one. */
export class ModelConflict extends Data.TaggedError("ModelConflict")<{
  readonly path: FieldPath;
  /** The id under which the server knows both, `<provider>/<model>`. */
  readonly id: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: the server knows this model as "${this.id}", and so another entry; ` +
      `give one of them another provider or providerModelId`;
  }
}

/** A declared provider needs an API that is switched off or not there. */
export class MissingApi extends Data.TaggedError("MissingApi")<{
  readonly path: FieldPath;
  readonly type: string;
  readonly missing: ReadonlyArray<string>;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: a provider of type "${this.type}" needs the API ${
      quoted(this.missing)
    }, which is ` +
      `disabled or has no provider; remove it from spec.disabled, or remove this provider`;
  }
}

/** The value of a referenced Secret key cannot reach the server unharmed. */
export class SecretValueUnusable extends Data.TaggedError("SecretValueUnusable")<{
  readonly path: FieldPath;
  /** Secret and key, e.g. `pg/dsn`; never the value. */
  readonly key: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: the value of ${this.key} cannot be used: ${this.detail}`;
  }
}

/** The generated file does not fit into one ConfigMap. */
export class ConfigTooLarge extends Data.TaggedError("ConfigTooLarge")<{
  readonly path: FieldPath;
  readonly bytes: number;
  readonly bytesMax: number;
}> {
  override get message(): string {
    return `The generated config.yaml is at least ${this.bytes} bytes; a config.yaml may have at most ${this.bytesMax}: shorten settings or models`;
  }
}

/** A Secret that the resource names is not there. */
export class SecretNotFound extends Data.TaggedError("SecretNotFound")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
}> {
  override get message(): string {
    return `Secret "${this.name}" not found in namespace "${this.namespace}". Referenced by: ${formatPath(this.path)}`;
  }
}

/** A Secret is there, the key is not. */
export class SecretKeyMissing extends Data.TaggedError("SecretKeyMissing")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
  readonly key: string;
}> {
  override get message(): string {
    return `Key "${this.key}" not found in Secret "${this.namespace}/${this.name}". Referenced by: ${
      formatPath(this.path)
    }`;
  }
}

/** A ConfigMap that the resource names is not there. */
export class ConfigMapNotFound extends Data.TaggedError("ConfigMapNotFound")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
}> {
  override get message(): string {
    return `ConfigMap "${this.name}" not found in namespace "${this.namespace}". Referenced by: ${
      formatPath(this.path)
    }`;
  }
}

/** A ConfigMap is there, the key is not. */
export class ConfigMapKeyMissing extends Data.TaggedError("ConfigMapKeyMissing")<{
  readonly path: FieldPath;
  readonly name: string;
  readonly namespace: string;
  readonly key: string;
}> {
  override get message(): string {
    return `Key "${this.key}" not found in ConfigMap "${this.namespace}/${this.name}". ` +
      `Referenced by: ${formatPath(this.path)}`;
  }
}

/** More Secrets and ConfigMaps than one resource may name. */
export class TooManyReferences extends Data.TaggedError("TooManyReferences")<{
  readonly path: FieldPath;
  readonly count: number;
  readonly max: number;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: refers to ${this.count} Secrets and ConfigMaps, at most ${this.max} are supported; ` +
      `put several keys into one Secret`;
  }
}

/** What the resource uses of its Secrets or ConfigMaps is more than an environment or the operator can hold. */
export class ReferenceTooLarge extends Data.TaggedError("ReferenceTooLarge")<{
  readonly path: FieldPath;
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  readonly namespace: string;
  readonly bytesMax: number;
}> {
  override get message(): string {
    return `${
      formatPath(this.path)
    }: ${this.kind} "${this.name}" in namespace "${this.namespace}" is too large: all keys ` +
      `that this resource uses of its ${this.kind}s may have ${this.bytesMax} bytes together`;
  }
}

/** The author's own config is no YAML document (R36). */
export class OverrideConfigInvalid extends Data.TaggedError("OverrideConfigInvalid")<{
  readonly path: FieldPath;
  /** ConfigMap and key, e.g. `my-config/config.yaml`. */
  readonly key: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.key} is no config: ${this.detail}; what runs stays as it is`;
  }
}

/** The bundle of certificates cannot be used. */
export class CaBundleInvalid extends Data.TaggedError("CaBundleInvalid")<{
  readonly path: FieldPath;
  /** ConfigMap and key. */
  readonly key: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: ${this.key} holds no usable certificates: ${this.detail}`;
  }
}

/** An object of the name that we need belongs to somebody else. */
export class OwnershipConflict extends Data.TaggedError("OwnershipConflict")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** Who has it, e.g. `Deployment other`; undefined when nobody claims it. */
  readonly owner: string | undefined;
}> {
  override get message(): string {
    return `${this.kind} "${this.name}" already exists and ${
      this.owner === undefined ? "is not managed by this resource" : `belongs to ${this.owner}`
    }. It is left unchanged; rename this resource, or free the name`;
  }
}

/** An object of the name that we need is being deleted, or was made for a deleted resource of the same name. */
export class DeletionPending extends Data.TaggedError("DeletionPending")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
}> {
  override get message(): string {
    return `${this.kind} "${this.name}" of a deleted resource still exists; waiting until Kubernetes has removed it`;
  }
}

/** The API server, or a webhook that it calls, answers a write with an error of its own. */
export class WriteFailed extends Data.TaggedError("WriteFailed")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** Status code and the API server's own sentence. */
  readonly detail: string;
  /** Whether the Deployment needs it, so that it is not written either. */
  readonly blocks: boolean;
}> {
  override get message(): string {
    return `Could not write ${this.kind} "${this.name}": ${this.detail}`;
  }
}

/** The server of another line would not find data that the one before it stored (R25). */
export class LineChangeLosesData extends Data.TaggedError("LineChangeLosesData")<{
  readonly path: FieldPath;
  /** Servers for people, e.g. `Llama Stack 0.7`. */
  readonly from: string;
  readonly to: string;
  readonly losses: ReadonlyArray<string>;
  /** The annotation that lets the change through, as a line of YAML. */
  readonly accept: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: the move from ${this.from} to ${this.to} loses ${this.losses.join("; ")}. ` +
      `What runs stays. Keep the distribution, start a new resource for the new server, or annotate this one with ` +
      this.accept;
  }
}

/** The server stored a model or shield that the config now describes otherwise; its next start would end (R28). */
export class RegistryConflict extends Data.TaggedError("RegistryConflict")<{
  readonly path: FieldPath;
  readonly kind: "model" | "shield";
  readonly id: string;
  /** What differs, under the names of the resource. */
  readonly changed: ReadonlyArray<string>;
  /** An order to the reader that ends the sentence. */
  readonly way: string;
}> {
  override get message(): string {
    return `${formatPath(this.path)}: the server has stored the ${this.kind} "${this.id}" with another ${
      this.changed.join(" and ")
    } and would not start; ${this.way}, or change it back`;
  }
}

/** A write that did not succeed. */
export type Unwritten = ObjectRefused | WriteFailed;

/** The API server refuses an object: quota, admission, an immutable field. */
export class ObjectRefused extends Data.TaggedError("ObjectRefused")<{
  readonly path: FieldPath;
  readonly kind: string;
  readonly name: string;
  /** The API server's own sentence. */
  readonly detail: string;
  /** Whether the Deployment needs it, so that it is not written either (R35). */
  readonly blocks: boolean;
}> {
  override get message(): string {
    return `The API server refuses ${this.kind} "${this.name}": ${this.detail}`;
  }
}

/** What only a look at the cluster can show. */
export type ReferenceFailure = SecretNotFound | SecretKeyMissing | ConfigMapNotFound | ConfigMapKeyMissing;
