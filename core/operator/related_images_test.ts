import { deepStrictEqual } from "node:assert/strict";
import { relatedImagesAmong, relatedImagesOf } from "./related_images.ts";

Deno.test("the images of an installation are the variables of its Deployment that name one", () => {
  const env = [
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "RELATED_IMAGE_STARTER", value: "registry.example/starter@sha256:1" },
    { name: "RELATED_IMAGE_REMOTE_VLLM", value: "" },
    { name: "RELATED_IMAGE_OGX_STARTER", valueFrom: { configMapKeyRef: { name: "images", key: "ogx" } } },
    { name: "IMAGE", value: "registry.example/other" },
  ];
  const deployment = { spec: { template: { spec: { containers: [{ name: "operator", env }, { name: "proxy" }] } } } };
  deepStrictEqual(
    relatedImagesOf(deployment),
    new Map([["RELATED_IMAGE_STARTER", "registry.example/starter@sha256:1"]]),
  );
});

Deno.test("an object that is no Deployment names no images", () => {
  for (const other of [null, {}, { spec: { template: [] } }, "text"]) {
    deepStrictEqual(relatedImagesOf(other), new Map());
  }
  deepStrictEqual(relatedImagesAmong([]), new Map());
});
