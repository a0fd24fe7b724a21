/** Who publishes and where: what a fork or a release changes, in this file alone. */

export interface Publisher {
  readonly displayName: string;
  readonly provider: string;
  readonly maintainer: { readonly name: string; readonly email: string };
  readonly homepage: string;
  /** Of the source code. */
  readonly repository: string;
  /** Registry and organization of every image that is published. */
  readonly images: string;
  /** Of the release, RFC 3339; not the time of a build, so that two builds are equal. */
  readonly createdAt: string;
}

export const PUBLISHER: Publisher = {
  displayName: "Llama Stack Operator",
  provider: "Llama Stack operator authors",
  maintainer: { name: "Llama Stack operator authors", email: "maintainers@llama-stack-operator.example" },
  homepage: "https://llama-stack-operator.example",
  repository: "https://llama-stack-operator.example/source",
  images: "docker.io/llamastackoperator",
  createdAt: "2026-11-21T00:00:00Z",
};

/** What must be changed before anything is published; a release that finds something here must stop. */
export const publisherProblems = (publisher: Publisher = PUBLISHER): ReadonlyArray<string> => {
  const { displayName, provider, maintainer, homepage, repository, images, createdAt } = publisher;
  const rules: ReadonlyArray<readonly [field: string, value: string, form: RegExp, what: string]> = [
    ["displayName", displayName, /^.{3,50}$/, "a name of 3 to 50 characters"],
    ["provider", provider, /\S/, "a name"],
    ["maintainer.name", maintainer.name, /\S/, "a name"],
    ["maintainer.email", maintainer.email, /^[^@\s]+@[^@\s]+\.[^@\s]+$/, "an email address"],
    ["homepage", homepage, /^https:\/\/[^/\s]+/, "an https URL"],
    ["repository", repository, /^https:\/\/[^/\s]+\/\S/, "the https URL of a repository"],
    ["images", images, /^[a-z0-9.:-]+\.[a-z0-9.:-]+(\/[a-z0-9._-]+)+$/, "a registry and an organization"],
    ["createdAt", createdAt, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/, "a time such as 2026-11-21T00:00:00Z"],
  ];
  return rules.flatMap(([field, value, form, what]) => {
    if (!form.test(value)) return [`${field}: "${value}" is not ${what}`];
    return RESERVED.test(value) ? [`${field}: "${value}" is a placeholder; ".example" belongs to nobody`] : [];
  });
};

/** Top-level domains that nobody can register: RFC 2606 and RFC 6761. */
const RESERVED = /\.(example|invalid|test|localhost)(?![a-z0-9.-]*[a-z0-9])|\bexample\.(com|net|org)\b/;
