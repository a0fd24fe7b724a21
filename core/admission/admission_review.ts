/** `/validate`: an AdmissionReview → the requested change, and the response from the findings. */
import { API_VERSION } from "../api/v1alpha2.ts";
import * as Result from "effect/Result";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { ANSWER_BOUNDS, readJson } from "../data/json_text.ts";
import { ADMISSION_WARNING_MAX, ADMISSION_WARNINGS_MAX, OBJECT_VALUES_MAX, SPEC_VALUES_MAX } from "../data/limits.ts";
import { membersAt, type Slice } from "./review_slices.ts";
import type { Change, Judgement } from "./change.ts";

export interface Question {
  readonly uid: string;
  /** Undefined: nothing to validate, so the request is allowed. */
  readonly change: Change | undefined;
}

export const questionIn = (review: Json): Question => {
  const request = objectAt(review, "request");
  const uid = stringAt(request, "uid") ?? "";
  const { object, oldObject } = request;
  const judged = isObject(object) && object.apiVersion === API_VERSION &&
    // An object that is being deleted only loses finalizers; never block that.
    stringAt(object, "metadata", "deletionTimestamp") === undefined;
  return {
    uid,
    change: !judged ? undefined : {
      namespace: stringAt(request, "namespace") ?? "",
      object,
      before: isObject(oldObject) ? oldObject : undefined,
      writtenIn: stringAt(request, "requestKind", "version") ?? "",
    },
  };
};

const REVIEW = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

export const accepted = (uid: string): JsonObject => ({ ...REVIEW, response: { uid, allowed: true } });

/** All findings in one answer, each with its field. */
export const admissionAnswer = (uid: string, { rejections, warnings }: Judgement, name: string): JsonObject => {
  const shown = shownWarnings(warnings);
  const field = shown.length === 0 ? {} : { warnings: shown };
  if (rejections.length === 0) return { ...REVIEW, response: { uid, allowed: true, ...field } };
  return {
    ...REVIEW,
    response: {
      uid,
      allowed: false,
      ...field,
      status: {
        status: "Failure",
        code: 422,
        reason: "Invalid",
        message: rejections.map(({ message }) => message).join("\n"),
        details: {
          group: "llamastack.io",
          kind: "LlamaStackDistribution",
          name,
          causes: rejections.map(({ field, message }) => {
            // Clients show the field before the message, which names it as well.
            const own = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
            return { reason: "FieldValueInvalid", field, message: own };
          }),
        },
      },
    },
  };
};

/**
 * For a review of too many values, which is not parsed: as every other finding, this one blocks neither a deletion nor the edit of a
 * resource that had it before. Undefined: it is no review of a resource.
 */
export const oversizedAnswer = (review: Uint8Array): JsonObject | undefined => {
  const found = membersAt(review, ["request.uid", "request.object", "request.oldObject"]);
  const [object, before] = [found.get("request.object"), found.get("request.oldObject")];
  if (object === undefined) return undefined;
  const inside = membersAt(review, ["metadata.name", "metadata.deletionTimestamp"], object.start);
  const text = (slice: Slice | undefined): string => {
    const bytes = slice === undefined ? new Uint8Array() : review.subarray(slice.start, slice.end);
    const value = Result.getOrUndefined(readJson(bytes, ANSWER_BOUNDS));
    return typeof value === "string" ? value : "";
  };
  const isNew = object.values > OBJECT_VALUES_MAX && (before === undefined || before.values <= OBJECT_VALUES_MAX);
  const message =
    `more than ${OBJECT_VALUES_MAX} values with its metadata and status: too many to be checked; a spec may ` +
    `have ${SPEC_VALUES_MAX}`;
  return admissionAnswer(
    text(found.get("request.uid")),
    isNew && !inside.has("metadata.deletionTimestamp")
      ? { rejections: [{ field: "spec", message: `spec: ${message}` }], warnings: [] }
      : { rejections: [], warnings: [`the resource is not checked: it has ${message}`] },
    text(inside.get("metadata.name")),
  );
};

/** Whole: one that is too long goes on in the next, since the fix is at its end. */
const shownWarnings = (warnings: ReadonlyArray<string>): ReadonlyArray<string> => {
  const shown: Array<string> = [];
  for (const [index, text] of warnings.entries()) {
    const pieces = piecesOf(text);
    const isLast = index === warnings.length - 1;
    if (shown.length + pieces.length + (isLast ? 0 : 1) > ADMISSION_WARNINGS_MAX) {
      return [...shown, `${warnings.length - index} more warnings; the command lint shows all`];
    }
    shown.push(...pieces);
  }
  return shown;
};

const piecesOf = (text: string): ReadonlyArray<string> => {
  const pieces: Array<string> = [];
  let rest = text;
  while (rest.length > ADMISSION_WARNING_MAX) {
    const room = ADMISSION_WARNING_MAX - 1;
    const space = rest.lastIndexOf(" ", room);
    const end = space > room / 2 ? space : room;
    pieces.push(`${rest.slice(0, end)}…`);
    rest = rest.slice(end).trimStart();
  }
  return [...pieces, rest];
};
