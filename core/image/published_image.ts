/** Images of the servers that are published, also from mirrors. */

const PUBLISHED_PATH = /(?:^|\/)(?:llamastack|ogxai)\/distribution-([^/:@]+)(?::|@|$)/;

/** The distribution of a published image: `starter` of `docker.io/ogxai/distribution-starter:1.4.1`; else undefined. */
export const publishedDistribution = (image: string): string | undefined => PUBLISHED_PATH.exec(image)?.[1];
