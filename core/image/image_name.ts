/** The parts of a reference to an image, with the defaults that container runtimes add. */

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
  const [rest = "", digest] = split(reference, reference.indexOf("@"));
  const colon = rest.lastIndexOf(":");
  const [name = "", tag] = split(rest, colon > rest.lastIndexOf("/") ? colon : -1);
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

/** Whether a registry is named; container runtimes disagree on what its absence means. */
export const namesRegistry = (reference: string): boolean => hostIn(reference) !== undefined;

const hostIn = (name: string): string | undefined => {
  const first = name.slice(0, Math.max(0, name.indexOf("/")));
  return /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase() ? first : undefined;
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
