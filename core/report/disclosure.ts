/** What the status may say of pods, beyond their own reasons. */
export interface Disclosure {
  /** Of Kubernetes' own text, from the scheduler or the kubelet. */
  readonly text: (text: string) => string;
  /** Whether a name that stands in a log may be shown, since the resource or its config has it. */
  readonly isPublic: (name: string) => boolean;
  /** What may be wrong with an image that cannot be pulled. */
  readonly pull: (image: string) => string;
}
