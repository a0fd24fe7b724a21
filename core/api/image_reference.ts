/**
 * References to container images, as container runtimes read them: [host[:port]/]path[:tag][@digest]. Source: the grammar of
 * the OCI distribution project, with its rule that a first part is a host only if it looks like one.
 */
import { IMAGE_CHARACTERS_MAX } from "../data/limits.ts";

export const isImageReference = (text: string): boolean => {
  if (text.length > IMAGE_CHARACTERS_MAX) return false;
  const found = REFERENCE.exec(text);
  if (found === null) return false;
  const [, name = ""] = found;
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase();
  const path = isHost ? name.slice(slash + 1) : name;
  // 64 hexadecimal digits would be the id of an image, and not its name.
  return (!isHost || HOST.test(first)) && PATH.test(path) && !/^[0-9a-f]{64}$/.test(name);
};

/** Name, tag, digest. A colon in the name belongs to the port of its host. */
const REFERENCE =
  /^((?:[^/@\s]+\/)?[^:@\s]+)(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?$/;
const HOST =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?$/;
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
