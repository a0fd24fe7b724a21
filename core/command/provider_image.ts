/** `provider check IMAGE`: what the labels of an image of an external provider say of it, without pulling it. */
import * as Result from "effect/Result";
import { problemsInLabels, unusableLabels } from "../config/provider_judgement.ts";
import { DESCRIPTION_LABEL, providerLabelsIn, providersAgreed, WHEELS_LABEL } from "../image/provider_labels.ts";
import { readDescription } from "../config/provider_description.ts";
import { labelsOf } from "../image/manifest.ts";
import type { ImageFacts } from "./image.ts";
import { failed, lines, type Outcome } from "./outcome.ts";
import { apiProblems, type CheckOptions, problemsOutcome, summaryOf, unsupportedServer } from "./provider.ts";

/** Exit code for an image that says nothing. */
const UNKNOWN = 3;

/** What was named may have been meant as a folder. */
export const providerUnread = (target: string, detail: string): Outcome =>
  failed(`${target}: there is no such folder, and as an image it cannot be read: ${detail}`);

export const providerImageCommand = ({ name, platforms }: ImageFacts, { serverVersion }: CheckOptions): Outcome => {
  const unsupported = unsupportedServer(serverVersion);
  if (unsupported !== undefined) return failed(unsupported);
  const agreed = providersAgreed(
    platforms.map(({ architecture, config }) => ({ architecture, labels: labelsOf(config) })),
  );
  if (Result.isFailure(agreed)) {
    return {
      stdout: lines([`${name}: ${agreed.failure.message}, so that nothing is judged before a pod starts`]),
      stderr: "",
      code: UNKNOWN,
    };
  }
  const labels = providerLabelsIn(agreed.success);
  const described = Result.getOrUndefined(labels)?.description;
  const problems = [
    ...unusableLabels(labels),
    ...problemsInLabels(labels, { api: undefined, serverVersion }),
    ...described === undefined ? [] : Result.match(readDescription(described), {
      onFailure: () => [],
      onSuccess: (read) => apiProblems(read, serverVersion),
    }),
  ];
  if (problems.length > 0) return problemsOutcome(name, problems);
  const { description, wheels = [] } = Result.getOrThrow(labels) ?? {};
  if (description === undefined) {
    return {
      stdout: lines([
        `${name}: the image has no label ${DESCRIPTION_LABEL}, so that nothing is known of it without pulling it`,
        "Build it with the labels that `llama-stack-operator provider pack` prints, or copy /lls-provider out of the image " +
        "and check that folder",
      ]),
      stderr: "",
      code: UNKNOWN,
    };
  }
  const read = Result.getOrThrow(readDescription(description));
  const known = wheels.map(({ wheel }) => wheel).filter(Result.isSuccess).map(({ success }) => success);
  return {
    stdout: lines([
      ...summaryOf(name, read, known),
      ...(Result.getOrThrow(labels)?.wheels === undefined
        ? [`The image has no label ${WHEELS_LABEL}, so that its wheels are not known without pulling it`]
        : []),
    ]),
    stderr: "",
    code: 0,
  };
};
