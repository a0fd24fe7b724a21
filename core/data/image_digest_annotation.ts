/** Annotation of the resource: `IMAGE@DIGEST`, what the tag of its image means from now on (`rollout`). */
export const IMAGE_DIGEST_ANNOTATION = "llamastack.io/image-digest";
