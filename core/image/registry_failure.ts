/** Why an image could not be read from its registry. No message quotes what a registry sent, or a credential. */
import * as Data from "effect/Data";

/** No response, or none within the time. */
export class RegistryUnreachable extends Data.TaggedError("RegistryUnreachable")<{
  readonly host: string;
  readonly detail: string;
  /** It was asked over HTTPS and does not have it. */
  readonly isPlainHttp?: boolean;
}> {
  override get message(): string {
    return `registry ${this.host} cannot be reached: ${this.detail}`;
  }
}

/** Every credential was rejected, or there is none. */
export class PullNotAllowed extends Data.TaggedError("PullNotAllowed")<{
  readonly host: string;
  readonly repository: string;
  /** How many credentials were tried. */
  readonly tried: number;
}> {
  override get message(): string {
    return `registry ${this.host} does not allow to read ${this.repository}: ${
      this.tried === 0
        ? "there are no credentials for it"
        : this.tried === 1
        ? "its credentials were rejected"
        : `${this.tried} credentials were rejected`
    }`;
  }
}

export class ImageNotFound extends Data.TaggedError("ImageNotFound")<{
  readonly host: string;
  readonly what: string;
}> {
  override get message(): string {
    return `registry ${this.host} does not have ${this.what}`;
  }
}

/** A response that no registry should send. */
export class RegistryMisbehaves extends Data.TaggedError("RegistryMisbehaves")<{
  readonly host: string;
  readonly detail: string;
}> {
  override get message(): string {
    return `registry ${this.host}: ${this.detail}`;
  }
}

/** The operator must not send a request there, whoever asks for it. */
export class AddressNotAllowed extends Data.TaggedError("AddressNotAllowed")<{
  readonly host: string;
  readonly detail: string;
  /** True for an address of this cluster, which only the log may tell: authors would learn which ones are taken. */
  readonly isOfCluster: boolean;
  /** Of the operator, which allows it. */
  readonly setting: string;
}> {
  override get message(): string {
    return `the operator must not ask registry ${this.host}: ${this.detail}; the setting ${this.setting} allows it`;
  }
}

export type RegistryFailure =
  | RegistryUnreachable
  | PullNotAllowed
  | ImageNotFound
  | RegistryMisbehaves
  | AddressNotAllowed;
