/** `deno task --quiet install-file IMAGE`: prints deploy/install.yaml for another image of the operator. */
import { isImageReference } from "../core/data/image_reference.ts";
import { DEFAULT } from "./package/choices.ts";
import { installation } from "./package/installation.ts";
import { oneFile } from "./package/kustomize.ts";

const [image, ...others] = Deno.args;
if (image === undefined || image.startsWith("-") || others.length > 0) {
  console.error("usage: deno task --quiet install-file IMAGE > FILE");
  Deno.exit(2);
}
if (!isImageReference(image)) {
  console.error(`${image}: not a name of an image`);
  Deno.exit(2);
}
console.log(
  oneFile(`# The operator with the image ${image}, by deno task install-file.\n`, installation({ ...DEFAULT, image }))
    .trimEnd(),
);
