/** The section of CHANGELOG.md of one version, which is the text of its release. */

/** Undefined if there is none, or if it is empty. */
export const sectionOf = (changelog: string, version: string): string | undefined => {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => new RegExp(`^\\[?${RegExp.escape(version)}\\]?(\\s|$)`).test(text));
  const body = section?.slice(section.indexOf("\n") + 1).trim();
  return body === undefined || body === "" ? undefined : `${body}\n`;
};
