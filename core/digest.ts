/** Hashes; the only file of the core that touches node:crypto (R52). */
import { createHash } from "node:crypto";

/** sha256 of the UTF-8 bytes, 64 hex digits. */
export const sha256Hex = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
