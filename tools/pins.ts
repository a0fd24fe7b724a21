/**
 * What is downloaded when a release is made and has no lock file of its own: images by digest, and Deno's runtime of compiled
 * programs by checksum. A release takes exactly these, whatever a tag or a download host has on that day; tools/release/pin.ts writes
 * them, and a commit changes them.
 */
import pins from "./pins.json" with { type: "json" };

interface Pins {
  /** Name with tag → `sha256:…` of its index. */
  readonly images: Readonly<Record<string, string>>;
  /** `VERSION TARGET` → SHA-256 of the archive with the runtime, 64 hex digits. */
  readonly runtimes: Readonly<Record<string, string>>;
}

export const PINS: Pins = pins;

/** Where Deno 2.9.6 downloads the runtime from. */
export const runtimeUrl = (target: string): string =>
  `https://dl.deno.land/release/v${Deno.version.deno}/denort-${target}.zip`;

export const runtimeName = (target: string): string => `${Deno.version.deno} ${target}`;

/** What a release of these images, for these targets, has no pin for. */
export const missingPins = (
  images: ReadonlyArray<string>,
  targets: ReadonlyArray<string>,
  { images: digests, runtimes }: Pins = PINS,
): ReadonlyArray<string> => [
  ...images.filter((image) => !/^sha256:[0-9a-f]{64}$/.test(digests[image] ?? ""))
    .map((image) => `tools/pins.json has no digest of ${image}; tools/release/pin.ts writes it`),
  ...targets.filter((target) => !/^[0-9a-f]{64}$/.test(runtimes[runtimeName(target)] ?? ""))
    .map((target) =>
      `tools/pins.json has no checksum of the runtime ${runtimeName(target)}; tools/release/pin.ts writes it`
    ),
];
