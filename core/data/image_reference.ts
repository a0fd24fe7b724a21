/**
 * References to container images, as container runtimes read them: [host[:port]/]path[:tag][@digest]. Source: the grammar of
 * the OCI distribution project, with its rule that a first part is a host only if it looks like one.
 */
import { IMAGE_CHARACTERS_MAX } from "./limits.ts";

export const isImageReference = (text: string): boolean => {
  if (text.length > IMAGE_CHARACTERS_MAX) return false;
  const found = REFERENCE.exec(text);
  if (found === null) return false;
  const [, name = ""] = found;
  const host = hostIn(name);
  const path = host === undefined ? name : name.slice(host.length + 1);
  // 64 hexadecimal digits would be the id of an image, and not its name.
  return (host === undefined || HOST.test(host)) && PATH.test(path) && !/^[0-9a-f]{64}$/.test(name);
};

/** Name, tag, digest. A colon in the name belongs to the port of its host. */
const REFERENCE =
  /^((?:[^/@\s]+\/)?[^:@\s]+)(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?$/;
const HOST =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?$/;
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;

/** The digests that the operator records and asks for. */
export const isSha256Digest = (text: string | undefined): text is string => /^sha256:[0-9a-f]{64}$/.test(text ?? "");

/** The parts of a reference, with the defaults that container runtimes add. */
export interface ImageName {
  /** Host, with a port if there is one; `docker.io` for Docker Hub. */
  readonly registry: string;
  readonly repository: string;
  /** Undefined if there is a digest. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export const DOCKER_HUB = "docker.io";

/** Of a valid reference (`isImageReference`). A name without a registry belongs to Docker Hub. */
export const imageName = (reference: string): ImageName => {
  const { name, tag, digest } = partsOf(reference);
  const host = hostIn(name);
  const [registry, path] = host === undefined ? [DOCKER_HUB, name] : [host, name.slice(host.length + 1)];
  const isHub = registry === DOCKER_HUB || registry === "index.docker.io";
  return {
    registry: isHub ? DOCKER_HUB : registry,
    // Official images of Docker Hub are in a folder that their names omit.
    repository: isHub && !path.includes("/") ? `library/${path}` : path,
    tag: digest === undefined ? tag ?? "latest" : undefined,
    digest,
  };
};

/** `host/path:tag` or `host/path@digest` with this digest, so that pods run what the labels were read from. */
export const atDigest = (image: string, digest: string): string => `${partsOf(image).name}@${digest}`;

/** Whether a registry is named; container runtimes disagree on what its absence means. */
export const namesRegistry = (reference: string): boolean => hostIn(reference) !== undefined;

/** The first part of a name, if it looks like a host. */
const hostIn = (name: string): string | undefined => {
  const first = name.slice(0, Math.max(0, name.indexOf("/")));
  return /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase() ? first : undefined;
};

const partsOf = (reference: string) => {
  const [rest, digest] = split(reference, reference.indexOf("@"));
  const colon = rest.lastIndexOf(":");
  const [name, tag] = split(rest, colon > rest.lastIndexOf("/") ? colon : -1);
  return { name, tag, digest };
};

const split = (text: string, at: number): readonly [string, string | undefined] =>
  at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];

/** The address of a registry's API: that of Docker Hub has another host than its images. */
export const registryHost = (registry: string): string => registry === DOCKER_HUB ? "registry-1.docker.io" : registry;

/** Registry and repository, by which credentials are chosen. */
export const repositoryOf = ({ registry, repository }: ImageName): string => `${registry}/${repository}`;

export type PullPolicy = "Always" | "IfNotPresent" | "Never";

/** The policy of a container that has none. Source: SetDefaults_Container of Kubernetes 1.36, for which a digest hides no tag. */
export const pullPolicyDefault = (reference: string): PullPolicy => {
  const [name = "", digest] = split(reference, reference.indexOf("@"));
  const tag = /:([^:/]*)$/.exec(name)?.[1] ?? (digest === undefined ? "latest" : undefined);
  return tag === "latest" ? "Always" : "IfNotPresent";
};
