/** Version of the operator, as `version`, status and images name it (semantic versioning). */
export const OPERATOR_VERSION = "0.1.0";
