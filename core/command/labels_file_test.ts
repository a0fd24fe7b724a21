import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { generated } from "../../tests/given.ts";
import { BASES } from "../config/servers/bases.ts";
import * as Result from "effect/Result";
import { labelsInFiles, providerLabelsInFiles, readLabelsFile, sortedFiles, unusedFiles } from "./labels_file.ts";

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
  strictEqual(readLabelsFile({ schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json" }), undefined);
  strictEqual(readLabelsFile({ config: 1 }), undefined);
});

Deno.test("labels of a file generate the same config as those of a registry; the image keeps its tag without a digest", () => {
  const spec = { distribution: { image: "registry.example.com/a:1" }, ...PROVIDERS };
  const of = (digest: string | undefined) =>
    generated(spec, {
      imageLabels: "Auto",
      labels: labelsInFiles([{ labels: LABELS, digest, repository: undefined }]),
    });
  strictEqual(of(DIGEST).distribution.image, `registry.example.com/a@${DIGEST}`);
  strictEqual(of(undefined).distribution.image, "registry.example.com/a:1");
  strictEqual(of(DIGEST).server.version, "1.5.0");
  const named = generated({ distribution: { name: "ogx-starter" }, ...PROVIDERS }, {
    imageLabels: "Auto",
    labels: labelsInFiles([{ labels: LABELS, digest: DIGEST, repository: undefined }]),
  });
  strictEqual(named.distribution.labels, undefined);
});

Deno.test("labelsInFiles() reports a config that is not in the file", () => {
  const layer = { "io.llamastack.config.layer": DIGEST, "io.llamastack.config.path": "a.yaml" };
  const detail = (labels: Record<string, string>, wanted?: string) => {
    const found = labelsInFiles([{ labels, digest: undefined, repository: undefined }])("a", wanted);
    return found?.kind === "unreadable" ? found.detail : found?.kind ?? "";
  };
  match(detail(layer), /is in a layer of the image, at a\.yaml; use --base$/);
  match(
    detail(LABELS, "other.yaml"),
    /there is no such config in the image; it has config\.yaml; correct or remove spec\.distribution\.config$/,
  );
});

const OWN = { "io.llamastack.provider.wheels": btoa("[]") };
const provider = (digest: string | undefined, name = "registry.example.com/own") =>
  Result.getOrThrow(Result.fromNullishOr(
    readLabelsFile({ Name: name, Labels: OWN, ...(digest === undefined ? {} : { Digest: digest }) }),
    () => "none",
  ));

Deno.test("sortedFiles() tells the file of the server from those of providers, which must name their image", () => {
  const server = { labels: LABELS, digest: undefined, repository: undefined };
  const sorted = Result.getOrThrow(sortedFiles([provider(DIGEST), server]));
  deepStrictEqual(sorted, { ofServers: [server], ofProviders: [provider(DIGEST)] });
  const why = (files: Parameters<typeof sortedFiles>[0]) =>
    Result.match(sortedFiles(files), { onFailure: (text) => text, onSuccess: () => "" });
  match(why([server, { ...server, repository: "a" }]), /of several files, each must name its image/);
  strictEqual(why([{ ...server, repository: "b" }, { ...server, repository: "a" }]), "");
  match(why([{ ...server, labels: OWN }]), /must name its image, as skopeo inspect does/);
});

Deno.test("providerLabelsInFiles() finds the file by repository and digest, and none where two of them differ", () => {
  const known = (image: string, ...files: ReadonlyArray<ReturnType<typeof provider>>) =>
    providerLabelsInFiles(files)({ image }) !== undefined;
  const other = `sha256:${"b".repeat(64)}`;
  strictEqual(known("registry.example.com/own:1", provider(DIGEST)), true);
  strictEqual(known(`registry.example.com/own@${DIGEST}`, provider(DIGEST), provider(other)), true);
  strictEqual(known(`registry.example.com/own@${other}`, provider(DIGEST)), false);
  strictEqual(known("registry.example.com/own:1", provider(DIGEST), provider(other)), false);
  strictEqual(known("registry.example.com/else:1", provider(DIGEST)), false);
});

Deno.test("a file does not speak for two tags of its repository, which it does not name", () => {
  const labels = Object.fromEntries(
    [["io.llamastack.provider.description", new TextEncoder().encode("kind: ProviderPackage\n").toBase64()]],
  );
  const read = providerLabelsInFiles([{ labels, digest: undefined, repository: "registry.example.com/prov" }]);
  const [one, two] = ["registry.example.com/prov:1", "registry.example.com/prov:2"] as const;
  ok(read({ image: one }, [one, "registry.example.com/other:1"]) !== undefined);
  strictEqual(read({ image: one }, [one, two]), undefined);
});

Deno.test("labelsInFiles() uses the file of the image, and none of another one", () => {
  const file = (repository: string) => ({ labels: LABELS, digest: DIGEST, repository });
  const read = (image: string) =>
    labelsInFiles([file("registry.example.com/a"), file("registry.example.com/b")])(image, undefined)?.kind;
  strictEqual(read("registry.example.com/b:1"), "read");
  strictEqual(read(`registry.example.com/b:1@${DIGEST}`), "read");
  strictEqual(read("registry.example.com/c:1"), undefined);
  strictEqual(read(`registry.example.com/a@sha256:${"b".repeat(64)}`), undefined);
  // A file does not say its tag.
  const both = ["registry.example.com/a:1", "registry.example.com/a:2"];
  strictEqual(labelsInFiles([file("registry.example.com/a")], both)("registry.example.com/a:1", undefined), undefined);
});

Deno.test("unusedFiles() tells of files that no resource needs, and of those that cannot be told apart", () => {
  const own = "registry.example.com/own:1";
  const other = `sha256:${"b".repeat(64)}`;
  const unused = (files: ReadonlyArray<ReturnType<typeof provider>>, ...images: ReadonlyArray<ReadonlyArray<string>>) =>
    unusedFiles(
      { ofServers: [], ofProviders: files },
      images.map((ofProviders) => ({ ofServer: undefined, ofProviders })),
    );
  deepStrictEqual(unused([provider(DIGEST)], [own], ["registry.example.com/else:1"]), []);
  const broken = {
    labels: { "io.llamastack.provider.wheels": "%" },
    digest: DIGEST,
    repository: "registry.example.com/own",
  };
  match(unused([broken], [own]).join(), /^the labels of registry\.example\.com\/own@sha256:a+ are not used: label /);
  match(
    unused([provider(DIGEST, "registry.example.com/typo")], [own]).join(),
    /^the labels of registry\.example\.com\/typo@sha256:a+ are not used: no resource has this image$/,
  );
  match(unused([provider(DIGEST)], [`registry.example.com/own@${other}`]).join(), /no resource has this image/);
  const both = unused([provider(DIGEST), provider(other)], [own]);
  strictEqual(both.length, 2);
  match(both.join(), /several files or images are of this repository/);
  match(unused([provider(DIGEST)], [own, "registry.example.com/own:2"]).join(), /several files or images/);
  const server = { labels: LABELS, digest: DIGEST, repository: "registry.example.com/a" };
  const told = (ofServer: string | undefined) =>
    unusedFiles({ ofServers: [server], ofProviders: [] }, [{ ofServer, ofProviders: [] }]);
  deepStrictEqual([told("registry.example.com/a:1"), told(undefined)], [[], []]);
  match(told("registry.example.com/b:1").join(), /no resource has this image/);
  // An image of a provider without labels, which are optional.
  const bare = { ofServer: "registry.example.com/b:1", ofProviders: ["registry.example.com/a:1"] };
  deepStrictEqual(unusedFiles({ ofServers: [server], ofProviders: [] }, [bare]), []);
});
