/** The shell commands of README and docs: which test runs each of them as written, or why none does. */

const ROOT = new URL("../", import.meta.url);

/** Fenced commands below one heading. */
interface Row {
  readonly page: string;
  readonly heading: string;
  /** Only those commands; defaults to all of them. */
  readonly commands?: ReadonlyArray<string>;
  /** The test file that runs them, by `commandsRunBy`. */
  readonly by?: string;
  /** Why no test runs them. */
  readonly why?: string;
}

/** How README starts Deno; inside the tests the running Deno stands for it, and `.ci/run` uses it as it is. */
export const LAUNCHER = "npx -y deno@2.9.6 ";

const INSTALL = "docs/install.md";
const INSTALLATION = "tests/cluster/installation_test.ts";
const HELM = "tests/cluster/helm_test.ts";

const TASKS = "tests/cluster/task_pages_test.ts";
const TASK_HEADINGS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "docs/secrets.md": ["Reference a Secret", "Replace a key"],
  "docs/storage.md": ["PostgreSQL and Redis"],
  "docs/tls.md": ["Trust a private authority"],
  "docs/upgrade.md": ["The operator", "A server"],
  "docs/air-gap.md": ["Images"],
};

export const DOCUMENTED: ReadonlyArray<Row> = [
  {
    page: "README.md",
    heading: "Try it",
    commands: [`${LAUNCHER}task up`],
    by: "tests/cluster/up_test.ts",
  },
  {
    page: "README.md",
    heading: "Try it",
    commands: [`${LAUNCHER}task test`],
    why: "runs every test, this one among them; .ci/run runs it as written",
  },
  { page: "README.md", heading: "The command line", by: "tests/house/documents_test.ts" },
  { page: "docs/command-line.md", heading: "The command line", by: "tests/house/documents_test.ts" },
  { page: "docs/from-config.md", heading: "Import a config", by: "tests/house/documents_test.ts" },
  {
    page: "docs/from-config.md",
    heading: "What you can import",
    why: "names files and objects of an example; core/command/import_test.ts imports such",
  },
  {
    page: "README.md",
    heading: "Develop",
    commands: [`${LAUNCHER}task ok`],
    why: "runs the unit tests, this one among them; tools/test.ts runs each of its parts",
  },
  {
    page: "README.md",
    heading: "Develop",
    commands: [`${LAUNCHER}task bench`],
    why: "takes minutes and judges a machine that does nothing else",
  },
  { page: INSTALL, heading: "The operator", by: INSTALLATION },
  { page: "docs/helm.md", heading: "Helm", by: HELM },
  { page: "docs/helm.md", heading: "From install.yaml to Helm", by: HELM },
  { page: "docs/helm.md", heading: "From Helm to install.yaml", by: HELM },
  {
    page: "docs/command-line.md",
    heading: "The program on your machine",
    why: "downloads Deno's runtime; tests/house/compiled_program_test.ts compiles the same with any runtime",
  },
  { page: "docs/releases.md", heading: "Files of a release", by: "tests/release/artifacts_test.ts" },
  {
    page: "docs/releases.md",
    heading: "Build the image",
    why: "pulls both bases; tests/node builds the Dockerfile with buildah on bases of its own",
  },
  { page: INSTALL, heading: "Network", by: INSTALLATION },
  { page: INSTALL, heading: "Settings", by: INSTALLATION },
  { page: "docs/go-operator.md", heading: "Take over", by: INSTALLATION },
  { page: "docs/go-operator.md", heading: "Go back", by: "tests/cluster/takeover_back_test.ts" },
  { page: INSTALL, heading: "Remove", by: INSTALLATION },
  {
    page: "docs/index.md",
    heading: "Five minutes on kind",
    why:
      "requires kind and a container engine; tests/node builds the same image with buildah and runs it on a real node",
  },
  ...Object.entries(TASK_HEADINGS).flatMap(([page, headings]) =>
    headings.map((heading) => ({ page, heading, by: TASKS }))
  ),
  {
    page: "docs/models.md",
    heading: "Check it",
    why: "requires a server that runs; tests/node/inference_test.ts runs it there",
  },
  ...["Label an image", "Look at an image"].map((heading) => ({
    page: "docs/image-labels.md",
    heading,
    why: "names a registry of an example; tests/cluster/image_command_test.ts does the same with a real one",
  })),
  {
    page: "docs/external-providers.md",
    heading: "From nothing to a listed provider",
    why:
      "requires a container engine; tests/node/external_providers_test.ts does the same on a real node, and core/command/provider_test.ts compares the files",
  },
  {
    page: "docs/external-providers.md",
    heading: "What is judged before a pod starts",
    why: "names a registry of an example; tests/cluster/image_command_test.ts does the same with a real one",
  },
  { page: "docs/backup.md", heading: "Back up one namespace", by: "tests/cluster/backup_test.ts" },
  { page: "docs/backup.md", heading: "Restore it", by: "tests/cluster/backup_test.ts" },
  {
    page: "docs/runbook.md",
    heading: "The certificate authority of the webhooks is compromised or unusable",
    by: "tests/cluster/certificates_test.ts",
  },
  { page: "docs/observability.md", heading: "Log", by: "tests/around/prometheus_test.ts" },
  {
    page: "docs/observability.md",
    heading: "Argo CD, Flux and kubectl",
    by: "tests/cluster/health_in_tools_test.ts",
  },
];

export interface Command {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** What one test file has to run, in the order of the pages. */
export const commandsRunBy = async (file: string): Promise<ReadonlyArray<Command>> =>
  (await documentedCommands()).filter((command) => rowsOf(command).some(({ by }) => by === file));

export const rowsOf = ({ page, heading, text }: Command): ReadonlyArray<Row> =>
  DOCUMENTED.filter((row) =>
    row.page === page && row.heading === heading && (row.commands === undefined || row.commands.includes(text))
  );

/** Every command of a fenced `sh` block of README and docs, without its remark. */
export const documentedCommands = async (): Promise<ReadonlyArray<Command>> => {
  const pages = ["README.md"];
  for await (const { name } of Deno.readDir(new URL("docs", ROOT))) {
    if (name.endsWith(".md")) pages.push(`docs/${name}`);
  }
  const texts = await Promise.all(pages.sort().map((page) => Deno.readTextFile(new URL(page, ROOT))));
  return texts.flatMap((text, index) => commandsIn(pages[index] ?? "", text));
};

/** Every fenced `yaml` block of docs that contains a whole resource of ours. */
export const resourcesOfPages = async (): Promise<ReadonlyArray<{ readonly page: string; readonly text: string }>> => {
  const names = Array.from(Deno.readDirSync(new URL("docs", ROOT)), ({ name }) => name).filter((name) =>
    name.endsWith(".md")
  );
  const texts = await Promise.all(names.map((name) => Deno.readTextFile(new URL(`docs/${name}`, ROOT))));
  return texts.flatMap((page, index) =>
    [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = ""]) => ({ page: `docs/${names[index]}`, text }))
  ).filter(({ text }) =>
    text.startsWith("apiVersion: llamastack.io/") && text.includes("kind: LlamaStackDistribution")
  );
};

const commandsIn = (page: string, text: string): ReadonlyArray<Command> => {
  let [heading, isFenced, isShell] = ["", false, false];
  const found: Array<Command> = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      isFenced = !isFenced;
      isShell = isFenced && /^```(sh|bash|shell|console)\b/.test(line);
    } else if (!isFenced && line.startsWith("#")) heading = line.replace(/^#+\s*/, "");
    else if (isShell && line.trim() !== "") {
      found.push({ page, heading, text: line.replace(/\s+#\s.*$/, "").trim() });
    }
  }
  return found;
};
