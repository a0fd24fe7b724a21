/** What real users have in their Secrets: each of these breaks a URL, a YAML file or a shell line somewhere. */
export const ODD_PASSWORDS: readonly string[] = [
  "p@s:s/w?#%&+ ' \"$\\ end",
  "%41bc%2F",
  "${env.HOME}",
  "0123456789",
  "pässwörd-✓",
];
