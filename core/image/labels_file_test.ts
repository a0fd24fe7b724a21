import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { generated } from "../../tests/given.ts";
import { BASES } from "../config/servers/bases.ts";
import { labelsInFile, readLabelsFile } from "./labels_file.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const LABELS = {
  "com.ogx.config.config.yaml": new TextEncoder().encode(`${BASES["starter-1.5.yaml"]}`).toBase64(),
  "com.ogx.distribution.version": "1.5.0",
};
const PROVIDERS = { providers: { inference: [{ provider: "vllm", endpoint: "http://vllm:8000/v1" }] } };

Deno.test("readLabelsFile() reads the output of skopeo and crane, and a plain map", () => {
  const unnamed = { labels: LABELS, digest: undefined, repository: undefined };
  deepStrictEqual(readLabelsFile(LABELS), unnamed);
  deepStrictEqual(readLabelsFile({ Name: "a", Digest: DIGEST, Labels: LABELS }), {
    labels: LABELS,
    digest: DIGEST,
    repository: "docker.io/library/a",
  });
  deepStrictEqual(readLabelsFile({ architecture: "amd64", config: { Labels: LABELS } }), unnamed);
  strictEqual(readLabelsFile([]), undefined);
  strictEqual(readLabelsFile({ config: 1 }), undefined);
});

Deno.test("labels of a file generate the same config as those of a registry; the image keeps its tag without a digest", () => {
  const spec = { distribution: { image: "registry.example.com/a:1" }, ...PROVIDERS };
  const of = (digest: string | undefined) =>
    generated(spec, { imageLabels: "Auto", labels: labelsInFile({ labels: LABELS, digest }) });
  strictEqual(of(DIGEST).distribution.image, `registry.example.com/a@${DIGEST}`);
  strictEqual(of(undefined).distribution.image, "registry.example.com/a:1");
  strictEqual(of(DIGEST).server.version, "1.5.0");
  const named = generated({ distribution: { name: "ogx-starter" }, ...PROVIDERS }, {
    imageLabels: "Auto",
    labels: labelsInFile({ labels: LABELS, digest: DIGEST }),
  });
  strictEqual(named.distribution.labels, undefined);
});

Deno.test("labelsInFile() reports a config that is not in the file", () => {
  const layer = { "io.llamastack.config.layer": DIGEST, "io.llamastack.config.path": "a.yaml" };
  const detail = (labels: Record<string, string>, wanted?: string) => {
    const found = labelsInFile({ labels, digest: undefined })("a", wanted);
    return found.kind === "unreadable" ? found.detail : found.kind;
  };
  match(detail(layer), /is in a layer of the image, at a\.yaml; use --base$/);
  match(detail(LABELS, "other.yaml"), /there is no such config in the image; it has config\.yaml$/);
});
