/** `/validate`: an AdmissionReview → the requested change, and the response from the findings. */
import { API_VERSION } from "../api/v1alpha2.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../data/json.ts";
import { ADMISSION_WARNING_MAX, ADMISSION_WARNINGS_MAX } from "../data/limits.ts";
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
  const shown = warnings.slice(0, ADMISSION_WARNINGS_MAX).map(shortened);
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

const shortened = (text: string): string =>
  text.length <= ADMISSION_WARNING_MAX ? text : `${text.slice(0, ADMISSION_WARNING_MAX - 1)}…`;
